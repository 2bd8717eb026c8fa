/// Reading files: open, positioned reads and folder listings that fail with the errors of the catalogue.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace msprobe::file {

/// E1003 where the path does not exist, E1004 without permission, E1005 for all else; `number` is errno.
Error error(int number, const std::string& path);

/// A descriptor with one owner.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { close(); }
  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  int release();
  void close();

 private:
  int number_ = -1;
};

enum class Type : std::uint8_t { missing, file, folder, other };

struct Status {
  Type type = Type::missing;
  std::uint64_t size = 0;
  std::uint64_t device = 0, inode = 0;
  std::int64_t modified_ns = 0;
};

/// Follows links. Type::missing where nothing is there; throws E1004 when a folder on the way may not be entered.
Status status(const std::string& path);

/// Opens a regular file for reading and says what it is; never waits for a pipe. Throws Error.
Descriptor open(const std::string& path, Status* status);

/// Reads until `bytes` are there or the file ends: the number read. Throws Error.
std::size_t read_at(int descriptor, std::uint64_t offset, void* out, std::size_t bytes, const std::string& path);

struct Entry {
  std::string name;
  Type type;  ///< of what a link points to
  bool link;
};

/// What a folder holds, without "." and "..", in no order. Throws Error.
std::vector<Entry> list(const std::string& folder);

/// Last part of a path; a slash at the end does not count.
std::string_view base_name(std::string_view path);
/// Folder of a path: "." where it has none.
std::string_view folder_name(std::string_view path);
std::string join(std::string_view folder, std::string_view name);
std::string absolute(const std::string& path);

}  // namespace msprobe::file
