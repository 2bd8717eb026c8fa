#include <algorithm>
#include <cmath>

#include "support.h"

using namespace msprobe;
using namespace msprobe::dump;
using namespace msprobe::dump::test;

namespace {

using Names = std::vector<std::string>;

Names lines_of(const fs::path& path) {
  Names lines;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

Names names_of(const Dump& dump) {
  Names names;
  for (const Tensor& tensor : dump.tensors) names.push_back(tensor.name);
  return names;
}

const std::string leaf =
    R"({"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2, 3], "Max": 2.0, "Min": -1.5, "Mean": 0.25, "Norm": 4.0, "requires_grad": true})";

std::string with_file(const std::string& data_name) {
  return leaf.substr(0, leaf.size() - 1) + R"(, "data_name": ")" + data_name + "\"}";
}

std::string forward(const std::string& inputs, const std::string& kwargs = "{}", const std::string& output = "[]") {
  return R"({"input_args": )" + inputs + R"(, "input_kwargs": )" + kwargs + R"(, "output": )" + output + "}";
}

std::string dump_json(const std::string& calls, const std::string& task = "statistics") {
  return R"({"task": ")" + task +
         R"(", "level": "L1", "framework": "pytorch", "dump_data_dir": "/somewhere/else", "data": {)" + calls + "}}";
}

/// A dump of one call.
Dump with_inputs(const Folder& folder, const std::string& inputs) {
  write(folder / "dump.json", dump_json(R"("Functional.f.0.forward": )" + forward(inputs)));
  return dump::open(folder.path.string());
}

}  // namespace

TEST_CASE("ascend: names and their order are those that the tool itself prints") {
  for (const char* name : {"enc_same_L0", "enc_md5_mix"}) {
    CAPTURE(name);
    const Dump dump = dump::open((data / name).string());
    CHECK(dump.tool == "Ascend msprobe");
    CHECK_FALSE(dump.incomplete);
    CHECK(names_of(dump) == lines_of(data / name / "peer_names.txt"));
  }
}

TEST_CASE("ascend: a root, a step, a rank folder and dump.json are the same dump") {
  const std::string root = (data / "enc_same_L0").string();
  const Names names = names_of(dump::open(root));
  CHECK(names.size() == 60);
  for (const char* below : {"/", "/step0", "/step0/proc19951", "/step0/proc19951/", "/step0/proc19951/dump.json"}) {
    const Dump dump = dump::open(root + below);
    CHECK(names_of(dump) == names);
    CHECK(dump.task == "tensor");
    CHECK(dump.level == "L0");
    CHECK(dump.framework == "pytorch");
  }
}

TEST_CASE("ascend: what is known of an operator inside a module") {
  const Dump dump = dump::open((data / "enc_md5_mix").string());
  CHECK(dump.task == "md5");
  const Tensor* eps = find(dump, "Functional.layer_norm.1.forward.input.4");
  REQUIRE(eps);
  CHECK(eps->kind == Kind::scalar);
  CHECK(eps->scalar == "float 1e-05");
  CHECK(eps->layer == "Functional.layer_norm");
  CHECK(eps->op == "layer_norm");
  CHECK(eps->module == "Module.blocks.0.ln2");
  CHECK(eps->call == 1);
  CHECK(eps->call_name == "Functional.layer_norm.1.forward");
  CHECK(eps->slot == "4");
  CHECK(eps->source == "models.py:37 in forward");
  CHECK(find(dump, "Functional.layer_norm.1.forward.input.1.0")->scalar == "int 8");
  CHECK(find(dump, "Functional.layer_norm.1.forward.input.1.0")->slot == "1.0");
  CHECK(find(dump, "Functional.softmax.0.forward.input.dim")->slot == "dim");

  const Tensor* output = find(dump, "Module.blocks.0.ln2.LayerNorm.forward.0.output.0");
  REQUIRE(output);
  CHECK(output->layer == "Module.blocks.0.ln2.LayerNorm");
  CHECK(output->module == "Module.blocks.0.ln2");
  CHECK(output->op == "LayerNorm");
  CHECK(output->phase == Phase::forward);
  CHECK(output->direction == Direction::output);
  CHECK(output->kind == Kind::statistics);
  CHECK(output->dtype == MSP_F32);
  CHECK(output->shape == std::vector<std::int64_t>{2, 6, 8});
  CHECK(output->statistics.mask == 15);
  CHECK(output->checksum_kind == "crc32");
  CHECK(output->checksum.size() == 8);

  CHECK(find(dump, "Module.blocks.0.ln2.LayerNorm.forward.0.parameters.weight")->direction == Direction::parameter);
  const Tensor* gradient = find(dump, "Module.head.Linear.parameters_grad.0.weight");
  REQUIRE(gradient);
  CHECK(gradient->direction == Direction::gradient);
  CHECK(gradient->phase == Phase::backward);
  CHECK(gradient->slot == "weight");
  CHECK(gradient->layer == "Module.head.Linear");
  // A backward call happens where its forward call was written.
  CHECK(find(dump, "Functional.layer_norm.1.backward.input.0")->source == "models.py:37 in forward");
  CHECK(find(dump, "Functional.layer_norm.1.backward.input.0")->module == "Module.blocks.0.ln2");
  // What an optimizer calls is no forward pass, whatever its name says.
  CHECK(find(dump, "Tensor.add_.0.forward.input.alpha")->phase == Phase::update);
  CHECK(find(dump, "Tensor.add_.0.forward.input.alpha")->source == "train.py:52 in <module>");
}

TEST_CASE("ascend: execution order is the order of the file, and within a call inputs, keywords, parameters, outputs") {
  const Folder folder;
  write(folder / "dump.json", dump_json(R"("Torch.z.0.forward": {"output": [)" + leaf + R"(], "parameters": {"w": )" +
                                        leaf + R"(}, "input_kwargs": {"k": )" + leaf + R"(}, "input_args": [)" + leaf +
                                        R"(]}, "Torch.a.0.forward": )" + forward("[" + leaf + "]")));
  const Dump dump = dump::open(folder.path.string());
  CHECK(names_of(dump) == Names{"Torch.z.0.forward.input.0", "Torch.z.0.forward.input.k",
                                "Torch.z.0.forward.parameters.w", "Torch.z.0.forward.output.0",
                                "Torch.a.0.forward.input.0"});
  CHECK(dump.tensors[3].execution_index == 0);
  CHECK(dump.tensors[4].execution_index == 1);
}

TEST_CASE("ascend: scalars have one text per value") {
  const Folder folder;
  const Dump dump = with_inputs(
      folder, R"([{"type": "float", "value": 1e-05}, {"type": "float", "value": 0.00001}, {"type": "float", "value": 2},
    {"type": "int", "value": 123456789012345678901234567890}, {"type": "bool", "value": true}, null, {"type": "str", "value": "abc"},
    {"type": "torch.dtype", "value": "torch.float16"}, {"type": "slice", "value": [0, 4, null]}, {"type": "float", "value": NaN},
    {"type": "float", "value": -Infinity}, {"type": "torch.device", "value": "npu:0"}, {"type": "str", "value": "/data/x.txt"},
    {"type": "str", "value": "cuda:1"}, {"type": "ellipsis", "value": "..."}, {"type": "torch.Size", "value": [2, 3]},
    {"type": "torch.memory_format", "format": "torch.contiguous_format"},
    {"type": "torch.ProcessGroup", "group_ranks": [0, 1], "group_id": "1a2b3c4d"}, {"type": "numpy.float64", "value": 0.1}, 3, "text"])");
  std::vector<std::string> scalars;
  for (const Tensor& tensor : dump.tensors) {
    CHECK(tensor.kind == Kind::scalar);
    scalars.push_back((tensor.ignored_scalar ? "ignored " : "") + tensor.scalar);
  }
  CHECK(scalars == Names{"float 1e-05",
                         "float 1e-05",
                         "float 2.0",
                         "int 123456789012345678901234567890",
                         "bool true",
                         "null",
                         "str abc",
                         "torch.dtype torch.float16",
                         "slice [0, 4, null]",
                         "float NaN",
                         "float -Infinity",
                         "ignored torch.device npu:0",
                         "ignored str /data/x.txt",
                         "ignored str cuda:1",
                         "ellipsis ...",
                         "torch.Size [2, 3]",
                         "torch.memory_format torch.contiguous_format",
                         "torch.ProcessGroup [0, 1]",
                         "numpy.float64 0.1",
                         "int 3",
                         "str text"});
}

TEST_CASE("ascend: nested arguments become slots") {
  const Folder folder;
  const Dump dump = with_inputs(
      folder,
      R"([[)" + leaf + R"(, {"mask": )" + leaf +
          R"(, "type": {"type": "int", "value": 1}}], [], {}, {"class_type": "torch.distributed.P2POp", "tensor": )" +
          leaf + R"(, "op": "isend", "peer": 1, "tag": 0, "group_id": "x"}])");
  CHECK(names_of(dump) == Names{"Functional.f.0.forward.input.0.0", "Functional.f.0.forward.input.0.1.mask",
                                "Functional.f.0.forward.input.0.1.type", "Functional.f.0.forward.input.3.tensor",
                                "Functional.f.0.forward.input.3.op", "Functional.f.0.forward.input.3.peer",
                                "Functional.f.0.forward.input.3.tag"});
  CHECK(dump.tensors[1].slot == "0.1.mask");
}

TEST_CASE("ascend: statistics keep NaN and Infinity, and may be missing one by one") {
  const Folder folder;
  const Dump dump = with_inputs(
      folder,
      R"([{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [4], "Max": Infinity, "Min": NaN, "Mean": null, "Norm": 0.1},
    {"type": "torch.Tensor", "dtype": "torch.bool", "shape": [4], "Max": true, "Min": false, "Mean": null, "Norm": null},
    {"type": "mindspore.Tensor", "dtype": "BFloat16", "shape": [], "Max": 1.7976931348623157e308},
    {"type": "torch.Tensor", "dtype": "torch.int64", "shape": [4], "Max": 9007199254740993, "Min": 4.9e-324, "Mean": null, "Norm": null}])");
  REQUIRE(dump.tensors.size() == 4);
  CHECK(dump.tensors[0].statistics.mask == 0b1011);
  CHECK(std::isinf(dump.tensors[0].statistics.value[MSP_STAT_MAX]));
  CHECK(std::isnan(dump.tensors[0].statistics.value[MSP_STAT_MIN]));
  CHECK(dump.tensors[0].statistics.value[MSP_STAT_NORM] == 0.1);
  CHECK(dump.tensors[1].statistics.mask == 0b0011);
  CHECK(dump.tensors[1].statistics.value[MSP_STAT_MAX] == 1);
  CHECK(dump.tensors[1].dtype == MSP_BOOL);
  CHECK(dump.tensors[2].dtype == MSP_BF16);
  CHECK(dump.tensors[2].shape.empty());
  CHECK(dump.tensors[2].statistics.value[MSP_STAT_MAX] == 1.7976931348623157e308);
  CHECK(dump.tensors[3].statistics.value[MSP_STAT_MIN] == 4.9e-324);
}

TEST_CASE("ascend: checksums are told apart by their form") {
  const Folder folder;
  const auto sum = [](const std::string& text) {
    return R"({"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], "md5": ")" + text + "\"}";
  };
  const Dump dump = with_inputs(folder, "[" + sum("00ff00ff") + "," + sum("0x0123456789abcdef") + "," +
                                            sum("0123456789abcdef0123456789abcdef") + "]");
  REQUIRE(dump.tensors.size() == 3);
  CHECK(dump.tensors[0].checksum_kind == "crc32");
  CHECK(dump.tensors[1].checksum_kind == "xor");
  CHECK(dump.tensors[2].checksum_kind == "md5");
  for (const Tensor& tensor : dump.tensors) CHECK(tensor.kind == Kind::checksum);
}

TEST_CASE("ascend: files are looked for beside dump.json, and what is missing is the problem of one tensor") {
  const Folder folder;
  write(folder / "dump_tensor_data/Torch.a.0.forward.input.0.npy", npy("<f4", "(2, 3)", std::string(24, '\0')));
  write(folder / "dump.json",
        dump_json(R"("Torch.a.0.forward": )" +
                      forward("[" + with_file("Torch.a.0.forward.input.0.npy") + "," +
                              with_file("Torch.a.0.forward.input.1.pt") + "," + with_file("-1") + "," +
                              with_file("../../secret.npy") + "," + with_file("/etc/passwd") + "]"),
                  "tensor"));
  const Dump dump = dump::open(folder.path.string());
  REQUIRE(dump.tensors.size() == 5);
  CHECK_FALSE(dump.tensors[0].problem);
  CHECK(open_data(dump.tensors[0], {})->count() == 6);
  CHECK(dump.tensors[0].statistics.mask == 15);
  CHECK(dump.tensors[1].problem->code == "E4005");
  CHECK(dump.tensors[1].problem->text.find("Torch.a.0.forward.input.1.pt") != std::string::npos);
  CHECK(dump.tensors[2].problem->code == "E4005");
  CHECK(dump.tensors[2].problem->text.find("data_name -1") != std::string::npos);
  CHECK(dump.tensors[2].name == "Torch.a.0.forward.input.2");
  CHECK(dump.tensors[3].problem->code == "E4013");
  CHECK(dump.tensors[4].problem->code == "E4013");
  CHECK(code_of([&] { open_data(dump.tensors[3], {}); }) == "E4013");
}

TEST_CASE("ascend: a file that is not what dump.json says is described with both") {
  const Folder folder;
  write(folder / "dump_tensor_data/x.npy", npy_f32({1, 2, 3}));
  write(folder / "dump.json",
        dump_json(R"("Torch.a.0.forward": )" + forward("[" + with_file("x.npy") + "]"), "tensor"));
  const Dump dump = dump::open(folder.path.string());
  CHECK(difference(dump.tensors[0], *open_data(dump.tensors[0], {})) ==
        "dump.json says torch.float32 [2, 3], the file holds f32 [3]");
}

TEST_CASE("ascend: steps and ranks come in the order of their numbers") {
  const Folder folder;
  for (const char* part : {"step10/rank1", "step2/rank0", "step2/rank10", "step2/rank2", "step10/rank0"})
    write(folder / (std::string(part) + "/dump.json"),
          dump_json(R"("Torch.a.0.forward": )" + forward("[" + leaf + "]")));
  fs::create_directories(folder / "step3");
  Options options;
  options.jobs = 3;
  const Dump dump = dump::open(folder.path.string(), options);
  std::vector<std::pair<std::int64_t, std::int64_t>> order;
  for (const Tensor& tensor : dump.tensors) order.emplace_back(tensor.step, tensor.rank);
  CHECK(order == std::vector<std::pair<std::int64_t, std::int64_t>>{{2, 0}, {2, 2}, {2, 10}, {10, 0}, {10, 1}});
  CHECK(noted(dump, "step3 is empty"));
  CHECK(dump::open(folder / "step10").tensors[1].rank == 1);
  CHECK(dump::open(folder / "step10/rank1").tensors[0].step == 10);
}

TEST_CASE("ascend: two dumps in one folder are listed, with the way to name one") {
  const Folder folder;
  for (const char* part : {"step0/proc12", "step0/proc7", "step1/proc12"})
    write(folder / (std::string(part) + "/dump.json"), dump_json(""));
  std::string text;
  CHECK(code_of([&] { dump::open(folder.path.string()); }, &text) == "E4004");
  CHECK(text.find("proc7, proc12") != std::string::npos);
  CHECK(text.find("step0/proc7") != std::string::npos);
  CHECK(dump::open(folder / "step0/proc7").tensors.empty());
}

TEST_CASE("ascend: stacks in the old form, and parents as Megatron writes them") {
  const Folder folder;
  write(folder / "dump.json", dump_json(R"("Tensor.add.0.forward": )" + forward("[" + leaf + "]") +
                                        R"(, "Tensor.mul.0.forward": )" + forward("[" + leaf + "]")));
  write(
      folder / "stack.json",
      R"({"Tensor.add.0.forward": ["File /x/site-packages/torch/a.py, line 3, in g, \n y", "File /home/me/run it.py, line 12, in step, \n y = x + 1"],
    "Tensor.mul.0.forward": ["File /x/site-packages/torch/a.py, line 3, in g, \n y"]})");
  write(
      folder / "construct.json",
      R"({"Tensor.add.0.forward": ["Module.layers.0.Linear.forward.0", 1], "Tensor.mul.0.forward": ["optimizer", 0], "megatron_micro_step_number": 4})");
  const Dump dump = dump::open(folder.path.string());
  CHECK(dump.tensors[0].source == "run it.py:12 in step");
  CHECK(dump.tensors[0].module == "Module.layers.0");
  CHECK(dump.tensors[1].source == "a.py:3 in g");
  CHECK(dump.tensors[1].module == "optimizer");
  CHECK(dump.tensors[1].phase == Phase::update);
}

TEST_CASE("ascend: without stack.json and construct.json there is a note and nothing else") {
  const Folder folder;
  const Dump dump = with_inputs(folder, "[" + leaf + "]");
  CHECK(noted(dump, "stack.json is missing"));
  CHECK(noted(dump, "construct.json is missing"));
  CHECK_FALSE(dump.incomplete);
  CHECK(dump.tensors[0].source.empty());
}

TEST_CASE("ascend: a dump.json that is cut off anywhere gives the calls before, or says that there are none") {
  const Folder folder;
  const std::string whole = slurp(data / "enc_same_L0/step0/proc19951/dump.json");
  const Names names = lines_of(data / "enc_same_L0/peer_names.txt");
  for (std::size_t size = 0; size < whole.size(); size += size < 3000 ? 1 : 997) {
    CAPTURE(size);
    const std::string path = write(folder / "dump.json", whole.substr(0, size));
    try {
      const Dump dump = dump::open(path);
      const Names found = names_of(dump);
      CHECK(found.size() <= names.size());
      CHECK(found == Names(names.begin(), names.begin() + static_cast<long>(found.size())));
      // Only white space and the last bracket may be missing without a word.
      if (found.size() < names.size()) {
        CHECK(dump.incomplete);
        CHECK(noted(dump, "is cut off at byte " + std::to_string(size)));
      }
    } catch (const Error& error) {
      CHECK(error.code() == "E4008");
      CHECK(error.what_happened().find("is cut off") != std::string::npos);
    }
  }
}

TEST_CASE("ascend: what is no dump.json is refused, an empty dump is not") {
  const Folder folder;
  for (const char* text : {"", "[]", "12", "nonsense", "{\"task\": \"tensor\"}", "{\"data\" 1}"}) {
    CAPTURE(text);
    CHECK(code_of([&] { dump::open(write(folder / "dump.json", text)); }) == "E4008");
  }
  const Dump empty = dump::open(write(folder / "dump.json", dump_json("")));
  CHECK(empty.tensors.empty());
  CHECK(noted(empty, "lists no call"));
}

TEST_CASE("ascend: one damaged rank does not cost the others") {
  const Folder folder;
  write(folder / "step0/rank0/dump.json", dump_json(R"("Torch.a.0.forward": )" + forward("[" + leaf + "]")));
  write(folder / "step0/rank1/dump.json", "{");
  const Dump dump = dump::open(folder.path.string());
  CHECK(dump.tensors.size() == 1);
  CHECK(dump.incomplete);
  CHECK(noted(dump, "rank1"));
}

TEST_CASE("ascend: nesting without end is an error, not a dead process") {
  const Folder folder;
  const std::string deep = std::string(100'000, '[');
  CHECK(code_of([&] { dump::open(write(folder / "dump.json", "{\"data\": {\"a\": " + deep)); }) == "E4008");
  std::string calls = R"("Torch.a.0.forward": )" + forward("[" + leaf + "]") + ", \"x\": ";
  const Dump dump = dump::open(write(folder / "dump.json", dump_json(calls + deep + std::string(100'000, ']'))));
  CHECK(dump.tensors.size() == 1);
  CHECK(dump.incomplete);
}

TEST_CASE("ascend: names of other forms, and tensors saved by hand, are kept") {
  const Folder folder;
  write(folder / "debug.json",
        R"({"task": "tensor", "level": "debug", "framework": "pytorch", "data": {"x.0.debug": )" + leaf +
            R"(, "x_grad.1.debug": [)" + leaf + R"(], "strange": )" + forward("[" + leaf + "]") +
            R"(, "Cell.net.fc.Dense.parameters_grad": {"weight": [)" + leaf + "]}}}");
  const Dump dump = dump::open(folder.path.string());
  REQUIRE(dump.tensors.size() == 4);
  CHECK(dump.level == "debug");
  CHECK(dump.tensors[0].layer == "x");
  CHECK(dump.tensors[1].layer == "x_grad");
  CHECK(dump.tensors[1].call == 1);
  CHECK(dump.tensors[2].layer == "strange");
  CHECK(dump.tensors[3].name == "Cell.net.fc.Dense.parameters_grad.weight");
  CHECK(dump.tensors[3].layer == "Cell.net.fc.Dense");
}

TEST_CASE("ascend: progress is told, and may stop the reading") {
  std::uint64_t bytes = 0;
  Options options;
  options.progress = [&](std::uint64_t more) { bytes += more; };
  dump::open((data / "enc_same_L0").string(), options);
  CHECK(bytes == fs::file_size(data / "enc_same_L0/step0/proc19951/dump.json"));
  options.progress = [](std::uint64_t) { throw std::runtime_error("stopped"); };
  CHECK_THROWS_WITH(dump::open((data / "enc_same_L0").string(), options), "stopped");
}
