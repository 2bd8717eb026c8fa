#include "dump/source.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace msprobe::dump {
namespace {

// Enough for most .npy headers and to tell every format; larger headers are read when they are met.
constexpr std::size_t head_bytes = 4096;

std::shared_ptr<const std::byte> allocate(std::size_t bytes) {
  void* memory = std::aligned_alloc(64, (bytes / 64 + 1) * 64);
  if (!memory) throw std::bad_alloc();
  return {static_cast<std::byte*>(memory), [](const std::byte* p) { std::free(const_cast<std::byte*>(p)); }};
}

}  // namespace

Source::Source(const std::string& path) {
  auto opened = std::make_shared<OpenFile>();
  opened->path = path;
  opened->descriptor = file::open(path, &opened->status);
  size_ = opened->status.size;
  const std::size_t wanted = size_ <= small ? static_cast<std::size_t>(size_) : head_bytes;
  bytes_ = allocate(wanted);
  head_size_ = file::read_at(opened->descriptor.get(), 0, const_cast<std::byte*>(bytes_.get()), wanted, path);
  if (head_size_ < wanted) size_ = head_size_;  // cut between the two calls: what is there counts
  if (whole()) opened->descriptor.close();
  file_ = std::move(opened);
}

void Source::read(std::uint64_t offset, void* out, std::size_t bytes) const {
  if (offset > size_ || bytes > size_ - offset) throw truncated(path(), offset + bytes, size_);
  if (offset + bytes <= head_size_) {
    std::memcpy(out, bytes_.get() + offset, bytes);
  } else if (file::read_at(file_->descriptor.get(), offset, out, bytes, path()) != bytes) {
    throw cut_short(path());
  }
}

Error truncated(const std::string& path, std::uint64_t expected, std::uint64_t found) {
  return {"E4002", "file is cut short: expected " + std::to_string(expected) + " bytes, found " + std::to_string(found),
          path, "still being written? wait for the writer to end, else dump or copy it again"};
}

Error cut_short(const std::string& path) {
  return {"E4012", "file was cut short while it was read", path, "wait for its writer to end, then compare again"};
}

}  // namespace msprobe::dump
