#include "support.h"

using namespace msprobe;
using namespace msprobe::dump;
using namespace msprobe::dump::test;

namespace {
using Shape = std::vector<std::int64_t>;
std::string pt(const std::string& name) {
  return (data / "pt" / (name + ".pt")).string();
}
const std::vector<float> six{0, 0.5, 1, 1.5, 2, 2.5};
}  // namespace

TEST_CASE("pt: a tensor of torch.save, pickle protocols 2, 4 and 5, ZIP64 and byteorder") {
  for (const char* name : {"plain", "protocol4", "protocol5", "zip64", "big_endian", "little_endian"}) {
    CAPTURE(name);
    const auto tensor = open_file(pt(name));
    CHECK(tensor->dtype() == MSP_F32);
    CHECK(tensor->shape() == Shape{2, 3});
    CHECK(read_all<float>(*tensor) == six);
  }
}

TEST_CASE("pt: real files of PyTorch are read, data as dump.json describes it") {
  const Dump dump = dump::open((data / "enc_same_L0").string());
  std::size_t opened = 0;
  for (const Tensor& tensor : dump.tensors) {
    if (tensor.kind != Kind::tensor) continue;
    const auto opened_data = open_data(tensor, {});
    CHECK(difference(tensor, *opened_data) == "");
    if (opened_data->dtype() != MSP_F32 || opened_data->count() == 0) continue;
    const std::vector<float> values = read_all<float>(*opened_data);
    float largest = values[0];
    for (float value : values) largest = std::max(largest, value);
    CHECK(largest == static_cast<float>(tensor.statistics.value[MSP_STAT_MAX]));
    ++opened;
  }
  CHECK(opened > 40);
}

TEST_CASE("pt: strides and storage offsets are honoured") {
  std::vector<float> transposed;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 3; ++j) transposed.push_back(0.5F * static_cast<float>(i + 4 * j));
  CHECK(values_of<float>(pt("transposed")) == transposed);
  CHECK(values_of<float>(pt("offset")) == std::vector<float>{2, 2.5, 3, 3.5, 4, 4.5});
  CHECK(values_of<float>(pt("expanded")) == std::vector<float>{0, 0.5, 1, 0, 0.5, 1, 0, 0.5, 1, 0, 0.5, 1});
  CHECK(values_of<float>(pt("scalar")) == std::vector<float>{7});
  CHECK(open_file(pt("empty"))->shape() == Shape{0, 3});
}

TEST_CASE("pt: tensors that share a storage are members of their own") {
  const Dump dump = dump::open(pt("shared"));
  REQUIRE(dump.tensors.size() == 2);
  CHECK(dump.tool == "file");
  CHECK(dump.tensors[0].name == "whole");
  CHECK(dump.tensors[1].name == "column");
  CHECK(read_all<float>(*open_data(dump.tensors[1], {})) == std::vector<float>{0.5, 2.5, 4.5});
}

TEST_CASE("pt: members of a checkpoint are named by their keys, what is no tensor is passed over") {
  const Dump dump = dump::open(pt("checkpoint"));
  std::vector<std::string> names;
  for (const Tensor& tensor : dump.tensors) names.push_back(tensor.name);
  CHECK(names == std::vector<std::string>{"model.fc.weight", "model.fc.bias", "history.0", "history.1.0", "7"});
  CHECK(read_all<float>(*open_data(dump.tensors[0], {})) == six);
  CHECK(dump.tensors[0].dtype_text == "torch.float32");
}

TEST_CASE("pt: every dtype; one that is not known is the problem of its tensor alone") {
  const Dump dump = dump::open(pt("dtypes"));
  REQUIRE(dump.tensors.size() == 19);
  for (const Tensor& tensor : dump.tensors) {
    CAPTURE(tensor.name);
    if (tensor.name == "quantized" || tensor.name == "e8m0") {
      REQUIRE(tensor.problem);
      CHECK(tensor.problem->code == "E4009");
      continue;
    }
    CHECK_FALSE(tensor.problem);
    CHECK(dtype_name(tensor.dtype) == tensor.name);
    CHECK(open_data(tensor, {})->dtype() == tensor.dtype);
  }
  CHECK(read_all<double>(*open_data(dump.tensors[0], {})) == std::vector<double>{1.5, -2});
  CHECK(read_all<std::uint16_t>(*open_data(*find(dump, "bf16"), {})) == std::vector<std::uint16_t>{0x3FC0, 0xC000});
  CHECK(read_all<std::uint64_t>(*open_data(*find(dump, "u64"), {})) == std::vector<std::uint64_t>{1, ~0ULL});
}

TEST_CASE("pt: pickles are never executed: what they ask for is named") {
  std::string text;
  CHECK(open_error(pt("posix_system"), &text) == "E4006");
  CHECK(text.find("pickle asks for posix.system") != std::string::npos);
  CHECK(open_error(pt("builtins_eval"), &text) == "E4006");
  CHECK(text.find("builtins.eval") != std::string::npos);
}

TEST_CASE("pt: lists in circles, endless depth and doubling are errors at once") {
  for (const char* name : {"cyclic", "deep", "doubling"}) {
    CAPTURE(name);
    CHECK(open_error(pt(name)) == "E4007");
  }
}

TEST_CASE("pt: the old form, compressed members and files without a tensor are refused clearly") {
  std::string text;
  CHECK(open_error(pt("legacy"), &text) == "E4001");
  CHECK(text.find("torch.save(torch.load(path), path)") != std::string::npos);
  CHECK(open_error(pt("deflated")) == "E4007");
  CHECK(open_error(pt("no_tensor")) == "E4003");
  CHECK(code_of([] { dump::open(pt("no_tensor")); }) == "E4003");
}

TEST_CASE("pt: a storage smaller than its tensor is named with both sizes") {
  std::string text;
  CHECK(open_error(pt("short_storage"), &text) == "E4002");
  CHECK(text.find("expected 24 bytes, found 8") != std::string::npos);
}

TEST_CASE("pt: a file that is cut short is said to be so") {
  const Folder folder;
  const std::string whole = slurp(pt("plain"));
  for (std::size_t size : {std::size_t{0}, std::size_t{3}, std::size_t{40}, whole.size() / 2, whole.size() - 1}) {
    CAPTURE(size);
    std::string text;
    CHECK(open_error(write(folder / "x.pt", whole.substr(0, size)), &text) == "E4002");
    CHECK(text.find("still being written?") != std::string::npos);
  }
}

TEST_CASE("pt: the content decides, not the suffix") {
  const Folder folder;
  fs::copy_file(pt("plain"), folder / "weights.bin");
  fs::copy_file(pt("plain"), folder / "weights.npy");
  CHECK(values_of<float>(folder / "weights.bin") == six);
  CHECK(values_of<float>(folder / "weights.npy") == six);
  CHECK(open_error(write(folder / "text.pt", "hello, this is no archive")) == "E4001");
}
