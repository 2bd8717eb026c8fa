#include "dump/data.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

#include "dump/formats/format.h"
#include "dump/gather.h"
#include "dump/source.h"
#include "dump/window.h"
#include "msprobe/dtype.hpp"

namespace msprobe::dump {
namespace {

// Shorter reads are copied. Seen per view, system calls, faults and a sum over the data included: 8 KiB 2.0 us by pread
// and 9.0 us mapped, 256 KiB 27 and 34 us, 1 MiB 107 and 103 us; and windows of 4 MiB in a row 12.2 against 9.8 GB/s.
constexpr std::size_t map_from = 1024 * 1024;
// What is read in one go when views follow each other; bounds the resident memory per worker and side.
constexpr std::size_t largest_window = 4 * 1024 * 1024;
// What is gathered in one go from a strided tensor: many rows at once, so that the cache lines and pages of the file
// that they share are loaded once. Such tensors are rare among dumps.
constexpr std::size_t largest_gather = 16 * 1024 * 1024;
// Pages of a strided file that may be touched before all are given back. The kernel maps 16 pages around a fault, so
// this bounds the resident memory to 48 MiB per worker and side.
constexpr std::size_t gather_pages = 768;

/// Network file systems answer a mapping page by page, and may lose the server in the middle: pread there.
bool mappable(const OpenFile& file) {
  int known = file.mappable.load(std::memory_order_relaxed);
  if (known < 0) {
    struct statfs info;
    known = 1;
    if (::fstatfs(file.descriptor.get(), &info) == 0) {
      switch (static_cast<std::uint32_t>(info.f_type)) {
        case 0x6969:      // NFS
        case 0x517B:      // SMB
        case 0xFF534D42:  // CIFS
        case 0xFE534D42:  // SMB2
        case 0x65735546:  // FUSE
        case 0x0BD00BD0:  // Lustre
        case 0x47504653:  // GPFS
        case 0x00C36400:  // Ceph
        case 0x01021997:  // 9p
          known = 0;
      }
    }
    file.mappable.store(known, std::memory_order_relaxed);
  }
  return known == 1;
}

void check_size(const OpenFile& file, std::uint64_t end) {
  struct stat info;
  if (::fstat(file.descriptor.get(), &info) == 0 && static_cast<std::uint64_t>(info.st_size) < end)
    throw cut_short(file.path);
}

void advise_sequential(const OpenFile& file) {
  if (!file.sequential.exchange(true, std::memory_order_relaxed))
    ::posix_fadvise(file.descriptor.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
}

std::size_t word_size(msp_dtype dtype) {
  const DtypeInfo* info = dtype_info(dtype);
  return info->dtype_class == DtypeClass::complex ? info->bytes / 2 : info->bytes;
}

}  // namespace

struct ViewBuffer::State {
  std::byte* memory = nullptr;
  std::size_t capacity = 0;

  Window window;
  std::shared_ptr<const OpenFile> file;  ///< behind the window
  std::uint64_t window_begin = 0, window_end = 0;
  bool in_window = false;  ///< the current view

  // The file of a strided tensor; it stays mapped from view to view.
  Window strided_window;
  std::uint64_t strided_tensor = 0;

  // What the memory holds, for views of tensors that have to be gathered.
  std::uint64_t held_tensor = 0, held_first = 0, held_end = 0;
  // Where the last view ended: whoever goes on from there reads ahead.
  std::uint64_t last_tensor = 0, last_end = 0;
  std::size_t ahead = 0;

  ~State() { std::free(memory); }

  std::byte* reserve(std::size_t bytes) {
    held_tensor = 0;
    if (bytes > capacity || !memory) {
      std::free(memory);
      capacity = (std::max<std::size_t>(bytes, 64) + 63) / 64 * 64;
      // One line more: kernels may load whole vectors up to the next 64 bytes.
      memory = static_cast<std::byte*>(std::aligned_alloc(64, capacity + 64));
      if (!memory) {
        capacity = 0;
        throw std::bad_alloc();
      }
    }
    return memory;
  }
};

namespace {

std::atomic<std::uint64_t> next_identity{1};

/// A tensor of numbers that lie uncompressed in a file, or in a small file that is in memory.
class ArrayData final : public Data {
 public:
  ArrayData(const Source& source, Layout layout)
      : file_(source.file()),
        offset_(layout.offset),
        item_(dtype_info(layout.dtype)->bytes),
        swap_(layout.big_endian && word_size(layout.dtype) > 1) {
    dtype_ = layout.dtype;
    count_ = element_count(layout.shape, source.path());
    if (source.whole()) memory_ = source.bytes();
    if (!layout.strides.empty() && count_ != 0) {
      strided_ = simplify(layout.shape, layout.strides);
      dense_ = strided_.shape.empty() || (strided_.shape.size() == 1 && strided_.strides[0] == 1);
      for (std::size_t d = 0; d < strided_.shape.size(); ++d)
        span_ += static_cast<std::uint64_t>((strided_.shape[d] - 1) * strided_.strides[d]);
    } else {
      span_ = count_;
    }
    shape_ = std::move(layout.shape);
  }

  void read(std::uint64_t first, std::uint64_t count, void* out) const override {
    check_range(first, count);
    if (count == 0) return;
    auto* bytes = static_cast<std::byte*>(out);
    if (!dense_) {
      Window window;
      return gather_range(first, count, bytes, window, false);
    }
    if (memory_) {
      std::memcpy(bytes, memory_.get() + offset_ + first * item_, count * item_);
    } else if (file::read_at(file_->descriptor.get(), offset_ + first * item_, bytes, count * item_, file_->path) !=
               count * item_) {
      throw cut_short(file_->path);
    }
    if (swap_) swap_bytes(bytes, word_size(dtype_), count * item_ / word_size(dtype_));
  }

  const std::byte* view(std::uint64_t first, std::uint64_t count, ViewBuffer& buffer) const override {
    check_range(first, count);
    ViewBuffer::State& state = buffer.state();
    state.in_window = false;
    if (state.strided_tensor != 0 && state.strided_tensor != identity_) {
      state.strided_window.unmap();
      state.strided_tensor = 0;
    }
    const bool goes_on = first == 0 || (state.last_tensor == identity_ && state.last_end == first);
    const bool follows = goes_on && first != 0;
    state.last_tensor = identity_;
    state.last_end = first + count;
    const std::size_t bytes = count * item_;
    if (!follows) state.ahead = bytes;
    if (bytes == 0) return state.reserve(64);
    const bool in_place = dense_ && !swap_ && offset_ % std::min<std::size_t>(item_, 8) == 0;
    if (in_place && memory_) return memory_.get() + offset_ + first * item_;
    if (!in_place) return copied_view(first, count, goes_on, state);

    const std::uint64_t begin = offset_ + first * item_, end = begin + bytes;
    if (state.window.data() && state.file == file_ && begin >= state.window_begin && end <= state.window_end) {
      state.in_window = true;
      return state.window.data() + (begin - state.window_begin);
    }
    std::uint64_t ahead = bytes;
    if (follows) {
      advise_sequential(*file_);
      state.ahead = std::min(std::max(state.ahead, bytes) * 2, largest_window);
      ahead = std::min<std::uint64_t>(std::max(state.ahead, bytes), offset_ + count_ * item_ - begin);
    }
    if (ahead >= map_from && mappable(*file_) &&
        state.window.map(file_->descriptor.get(), begin, static_cast<std::size_t>(ahead), true)) {
      state.file = file_;
      state.window_begin = begin;
      state.window_end = begin + ahead;
      state.in_window = true;
      return state.window.data();
    }
    std::byte* out = state.reserve(bytes);
    read(first, count, out);
    return out;
  }

  std::uint64_t identity() const { return identity_; }

 private:
  void check_range(std::uint64_t first, std::uint64_t count) const {
    if (first > count_ || count > count_ - first) throw std::out_of_range("elements outside the tensor");
  }

  /// Through the buffer. Strided tensors pay for whole cache lines and pages of the source, so more is gathered than
  /// was asked for as long as views follow each other.
  const std::byte* copied_view(std::uint64_t first, std::uint64_t count, bool goes_on, ViewBuffer::State& state) const {
    if (state.held_tensor == identity_ && first >= state.held_first && first + count <= state.held_end)
      return state.memory + (first - state.held_first) * item_;
    std::uint64_t wanted = count;
    if (!dense_ && goes_on) wanted = std::min(std::max<std::uint64_t>(count, largest_gather / item_), count_ - first);
    std::byte* out = state.reserve(wanted * item_);
    if (dense_) {
      read(first, wanted, out);
    } else {
      gather_range(first, wanted, out, state.strided_window, state.strided_tensor == identity_);
      state.strided_tensor = identity_;
    }
    state.held_tensor = identity_;
    state.held_first = first;
    state.held_end = first + wanted;
    return out;
  }

  void gather_range(std::uint64_t first, std::uint64_t count, std::byte* out, Window& window, bool mapped) const {
    if (memory_) {
      gather(strided_, item_, memory_.get() + offset_, first, count, out, [](std::size_t) {});
    } else {
      if (!mapped && !window.map(file_->descriptor.get(), offset_, span_ * item_, false))
        throw Error("E1005", "cannot be mapped into memory", file_->path,
                    "raise the limit of address space (ulimit -v)");
      const bool bounded = span_ * item_ > gather_pages * 16 * 4096;
      std::size_t pages = 0;
      gather(strided_, item_, window.data(), first, count, out, [&](std::size_t touched) {
        pages += touched;
        if (!bounded || pages < gather_pages) return;
        window.release_pages();
        pages = 0;
      });
      if (bounded) window.release_pages();
      if (window.cut_short()) throw cut_short(file_->path);
      check_size(*file_, offset_ + span_ * item_);
    }
    if (swap_) swap_bytes(out, word_size(dtype_), count * item_ / word_size(dtype_));
  }

  std::shared_ptr<const OpenFile> file_;
  std::shared_ptr<const std::byte> memory_;  ///< the whole file, when it is small
  std::uint64_t offset_;
  std::size_t item_;
  bool swap_;
  bool dense_ = true;
  Strided strided_;
  std::uint64_t span_ = 1;  ///< elements from the first to the last in the file
  std::uint64_t identity_ = next_identity.fetch_add(1, std::memory_order_relaxed);
};

}  // namespace

std::uint64_t Data::bytes() const {
  const DtypeInfo* info = dtype_info(dtype_);
  return info ? count_ * info->bytes : 0;
}

ViewBuffer::ViewBuffer() : state_(std::make_unique<State>()) {}
ViewBuffer::~ViewBuffer() = default;

std::byte* ViewBuffer::reserve(std::size_t bytes) {
  state_->in_window = false;
  return state_->reserve(bytes);
}

void ViewBuffer::check() const {
  if (!state_->in_window) return;
  // The last page of a file goes on with zeros, without a signal: its size has to be asked for.
  if (state_->window.cut_short()) throw cut_short(state_->file->path);
  check_size(*state_->file, state_->window_end);
}

std::unique_ptr<Data> make_data(const Source& source, Layout layout) {
  check_layout(source, layout);
  return std::make_unique<ArrayData>(source, std::move(layout));
}

std::unique_ptr<Data> open_data(const Tensor& tensor, const Options& options) {
  if (tensor.problem) throw Error(tensor.problem->code, tensor.problem->text, tensor.name, "dump this tensor again");
  if (tensor.file.empty())
    throw Error("E4005", "the dump has no data of this tensor", tensor.name,
                "dump again with task \"tensor\" to compare data");
  const Source source(tensor.file);
  return detect(source).open(source, tensor.member, options);
}

std::string difference(const Tensor& tensor, const Data& data) {
  if (tensor.dtype_text.empty() || (tensor.dtype == data.dtype() && tensor.shape == data.shape())) return "";
  return "dump.json says " + tensor.dtype_text + " " + shape_text(tensor.shape) + ", the file holds " +
         std::string(dtype_name(data.dtype())) + " " + shape_text(data.shape());
}

}  // namespace msprobe::dump
