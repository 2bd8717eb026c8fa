/// A part of a file in memory that survives the file being cut short.
#pragma once
#include <cstddef>
#include <cstdint>

namespace msprobe::dump {

/// Touching a mapped page behind the end of its file raises SIGBUS, which would end the process. One handler for the
/// whole process puts zeros there instead when the address lies in a Window, and marks the window; a SIGBUS from
/// anywhere else goes to the handler that was there before.
class Window {
 public:
  Window() = default;
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  ~Window();

  /// Replaces what was mapped. `sequential`: it will be read from front to back. False: not possible here, use pread.
  bool map(int descriptor, std::uint64_t offset, std::size_t bytes, bool sequential);
  void unmap();
  /// The byte at `offset` of the file; nullptr where nothing is mapped.
  const std::byte* data() const { return data_; }
  /// Pages were missing: zeros were seen.
  bool cut_short() const;
  /// Gives the pages back; they are read again when they are touched.
  void release_pages();

 private:
  void* start_ = nullptr;
  std::size_t length_ = 0;
  const std::byte* data_ = nullptr;
  int slot_ = -1;
};

}  // namespace msprobe::dump
