/// The bytes of one tensor, opened.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dump/dump.h"
#include "dump/tensor.h"

namespace msprobe::dump {

/// Memory that lends itself to views; one per worker and side. Grows to what a view needs and is reused.
class ViewBuffer;

/// An open tensor. const functions may be called from many threads at once.
class Data {
 public:
  virtual ~Data() = default;
  msp_dtype dtype() const { return dtype_; }
  const std::vector<std::int64_t>& shape() const { return shape_; }
  std::uint64_t count() const { return count_; }
  /// Bytes on disk that belong to the tensor (reports and progress).
  std::uint64_t bytes() const;

  /// Copies elements [first, first + count) to `out`: own dtype, dense row-major, little-endian, whatever the file has.
  /// Throws Error when the file is cut short or cannot be read.
  virtual void read(std::uint64_t first, std::uint64_t count, void* out) const = 0;

  /// The same elements without a copy where the file allows it (a mapped window), else through the buffer. The pointer
  /// is aligned to the element only, and lives until the buffer's next view or its end. After use call check(): it
  /// throws when the file was cut short under the mapping (the bytes seen were then zeros). Views that follow each
  /// other read ahead, up to 4 MiB; single ones read what they ask for, so ask for all of it at once.
  virtual const std::byte* view(std::uint64_t first, std::uint64_t count, ViewBuffer& buffer) const = 0;

 protected:
  msp_dtype dtype_ = MSP_DTYPE_NONE;
  std::vector<std::int64_t> shape_;
  std::uint64_t count_ = 0;
};

class ViewBuffer {
 public:
  ViewBuffer();
  ViewBuffer(const ViewBuffer&) = delete;
  ViewBuffer& operator=(const ViewBuffer&) = delete;
  ~ViewBuffer();
  /// At least `bytes`, 64-byte aligned, readable to the next 64 bytes; contents are lost.
  std::byte* reserve(std::size_t bytes);
  /// Throws Error E4012 when a mapped file behind the current view was cut short.
  void check() const;

  struct State;
  State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

/// Opens the bytes of a catalogued tensor; throws Error. The file's own dtype and shape win over the catalogue's.
std::unique_ptr<Data> open_data(const Tensor& tensor, const Options& options);

/// How the file differs from what the catalogue says: "dump.json says torch.bfloat16 [2, 3], the file holds f32 [2,
/// 3]"; empty: not at all. MindSpore stores bf16 as f32, so this is worth a note, not an error.
std::string difference(const Tensor& tensor, const Data& data);

}  // namespace msprobe::dump
