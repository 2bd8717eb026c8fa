#include "support.h"

using namespace msprobe;
using namespace msprobe::dump;
using namespace msprobe::dump::test;

namespace {
using Shape = std::vector<std::int64_t>;
const std::string twelve_bytes = bytes_of(std::vector<float>{1, 2, 3});
}  // namespace

TEST_CASE("bin: without a word it is float32 of one dimension") {
  const Folder folder;
  const auto tensor = open_file(write(folder / "x.bin", twelve_bytes));
  CHECK(tensor->dtype() == MSP_F32);
  CHECK(tensor->shape() == Shape{3});
  CHECK(read_all<float>(*tensor) == std::vector<float>{1, 2, 3});
}

TEST_CASE("bin: dtype and shape come from a side file, x.bin.json before x.json") {
  const Folder folder;
  const std::string path = write(folder / "x.bin", twelve_bytes);
  write(folder / "x.json", R"({"dtype": "float16", "shape": [3, 2]})");
  CHECK(open_file(path)->dtype() == MSP_F16);
  CHECK(open_file(path)->shape() == Shape{3, 2});
  write(folder / "x.bin.json", R"({"dtype": "bf16"})");
  CHECK(open_file(path)->dtype() == MSP_BF16);
  CHECK(open_file(path)->shape() == Shape{6});
}

TEST_CASE("bin: the command line has the last word") {
  const Folder folder;
  const std::string path = write(folder / "x.bin", twelve_bytes);
  write(folder / "x.json", R"({"dtype": "f16", "shape": [6]})");
  Options options;
  options.dtype = "i32";
  options.shape = {{3, 1}};
  CHECK(open_file(path, options)->dtype() == MSP_I32);
  CHECK(open_file(path, options)->shape() == Shape{3, 1});
}

TEST_CASE("bin: a size that does not fit is an error with the numbers") {
  const Folder folder;
  std::string text;
  CHECK(open_error(write(folder / "x.bin", "12345"), &text) == "E4010");
  CHECK(text.find("5 bytes") != std::string::npos);
  Options options;
  options.shape = {{2}};
  CHECK(open_error(write(folder / "y.bin", twelve_bytes), &text, options) == "E4010");
  CHECK(text.find("8 bytes, the file has 12") != std::string::npos);
  options.shape = {{4}};
  CHECK(open_error(folder / "y.bin", &text, options) == "E4010");
  CHECK(text.find("is 16 bytes, the file has 12") != std::string::npos);
  options.dtype = "f12";
  CHECK(open_error(folder / "y.bin", &text, options) == "E4009");
}

TEST_CASE("bin: a malformed side file is named") {
  const Folder folder;
  const std::string path = write(folder / "x.bin", twelve_bytes);
  for (const char* json :
       {"{", "[]", "{\"dtype\": 4}", "{\"shape\": 3}", "{\"shape\": [-1]}", "{\"shape\": [1.5]}", ""}) {
    CAPTURE(json);
    write(folder / "x.bin.json", json);
    std::string text;
    CHECK(open_error(path, &text) == "E4007");
    CHECK(text.find("x.bin.json") != std::string::npos);
  }
}
