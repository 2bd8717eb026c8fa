/// An open file as the formats see it: its first bytes, and all of them when it is small.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/file.h"

namespace msprobe::dump {

/// The descriptor behind one or many tensors.
struct OpenFile {
  std::string path;
  file::Descriptor descriptor;
  file::Status status;
  mutable std::atomic<bool> sequential{false};  ///< the kernel was told
  mutable std::atomic<int> mappable{-1};        ///< -1: not asked yet
};

class Source {
 public:
  /// Files up to this size are read at once and never touched again: one open, one pread.
  static constexpr std::size_t small = 64 * 1024;

  /// Throws Error.
  explicit Source(const std::string& path);

  const std::string& path() const { return file_->path; }
  std::uint64_t size() const { return size_; }
  /// The first bytes; the whole file when it is small. Followed by readable memory up to the next 64 bytes.
  std::span<const std::byte> head() const { return {bytes_.get(), head_size_}; }
  bool whole() const { return head_size_ == size_; }
  /// Copies from memory or the file. Throws E4002 when [offset, offset + bytes) is not inside the file.
  void read(std::uint64_t offset, void* out, std::size_t bytes) const;

  const std::shared_ptr<const OpenFile>& file() const { return file_; }
  const std::shared_ptr<const std::byte>& bytes() const { return bytes_; }

 private:
  std::shared_ptr<const OpenFile> file_;
  std::shared_ptr<const std::byte> bytes_;  ///< 64-byte aligned
  std::size_t head_size_ = 0;
  std::uint64_t size_ = 0;
};

/// E4002, with both numbers.
Error truncated(const std::string& path, std::uint64_t expected, std::uint64_t found);
/// E4012.
Error cut_short(const std::string& path);

}  // namespace msprobe::dump
