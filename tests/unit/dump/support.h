/// What the tests of dump/ share.
#pragma once
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "dump/data.h"
#include "dump/dump.h"
#include "msprobe/dtype.hpp"

namespace msprobe::dump::test {

namespace fs = std::filesystem;

inline const fs::path data = fs::path(MSPROBE_TEST_DATA) / "dumps";

/// A folder that goes with the test.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "msprobe-test-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  std::string operator/(const std::string& name) const { return (path / name).string(); }
  fs::path path;
};

inline std::string write(const fs::path& path, const std::string& bytes) {
  if (path.has_parent_path()) fs::create_directories(path.parent_path());
  // A new file each time: cutting and rewriting one makes ext4 wait for the disk.
  fs::remove(path);
  std::ofstream(path, std::ios::binary) << bytes;
  return path.string();
}

inline std::string slurp(const fs::path& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// A .npy file around a header's text as it is.
inline std::string npy_raw(const std::string& header, const std::string& elements, int version = 1) {
  std::string out = "\x93NUMPY";
  out += static_cast<char>(version);
  out += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) out += static_cast<char>(header.size() >> (8 * i));
  return out + header + elements;
}

inline std::string npy(const std::string& descr, const std::string& shape, const std::string& elements,
                       bool fortran = false) {
  std::string header =
      "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }";
  header.append(63 - (header.size() + 10) % 64, ' ');
  return npy_raw(header + "\n", elements);
}

/// "(n,)", without a `+` that g++ 12 takes for an overlap (-Wrestrict).
inline std::string length(std::size_t n) {
  std::string text = "(";
  text += std::to_string(n);
  return text += ",)";
}

inline std::string npy_f32(const std::vector<float>& values) {
  return npy("<f4", length(values.size()), bytes_of(values));
}

/// All of one tensor through read().
template <class T>
std::vector<T> read_all(const Data& tensor) {
  REQUIRE(dtype_info(tensor.dtype())->bytes == sizeof(T));
  std::vector<T> values(tensor.count());
  tensor.read(0, tensor.count(), values.data());
  return values;
}

inline std::unique_ptr<Data> open_file(const std::string& path, const Options& options = {}) {
  Tensor tensor;
  tensor.file = path;
  return open_data(tensor, options);
}

template <class T>
std::vector<T> values_of(const std::string& path, const Options& options = {}) {
  return read_all<T>(*open_file(path, options));
}

/// The code of the Error that `action` throws; "" when it throws none.
template <class Action>
std::string code_of(Action action, std::string* text = nullptr) {
  try {
    action();
  } catch (const Error& error) {
    if (text) *text = error.what();
    // Whatever happened, where and what to do are said.
    CHECK_FALSE(error.what_happened().empty());
    CHECK_FALSE(error.where().empty());
    CHECK_FALSE(error.what_to_do().empty());
    return error.code();
  }
  return "";
}

inline std::string open_error(const std::string& path, std::string* text = nullptr, const Options& options = {}) {
  return code_of([&] { open_file(path, options); }, text);
}

inline const Tensor* find(const Dump& dump, const std::string& name) {
  for (const Tensor& tensor : dump.tensors)
    if (tensor.name == name) return &tensor;
  return nullptr;
}

inline bool noted(const Dump& dump, const std::string& part) {
  for (const std::string& note : dump.notes)
    if (note.find(part) != std::string::npos) return true;
  return false;
}

}  // namespace msprobe::dump::test
