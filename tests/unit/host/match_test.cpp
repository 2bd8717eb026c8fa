#include <doctest/doctest.h>

#include "pair/ignored_rows.h"
#include "pair/pair.h"

using namespace msprobe;

namespace {

dump::Tensor tensor(const std::string& layer, const std::string& slot = "0",
                    dump::Direction direction = dump::Direction::output, std::int64_t call = 0) {
  dump::Tensor t;
  t.layer = layer;
  t.op = layer.substr(layer.rfind('.') + 1);
  t.slot = slot;
  t.call = call;
  t.execution_index = 0;
  t.phase = dump::Phase::forward;
  t.direction = direction;
  t.dtype = MSP_F32;
  t.name = layer + "." + std::to_string(call) + "." + slot;
  return t;
}

dump::Dump dump_of(std::vector<dump::Tensor> tensors) {
  dump::Dump d;
  d.tensors = std::move(tensors);
  return d;
}

}  // namespace

TEST_CASE("nothing is dropped: what only one side has is a row, the target's last") {
  const auto reference = dump_of({tensor("a"), tensor("b"), tensor("c")}),
             target = dump_of({tensor("x"), tensor("c"), tensor("a")});
  const auto pairs = pair::match(reference, target).pairs;
  REQUIRE(pairs.size() == 4);
  CHECK(pairs[0].target == &target.tensors[2]);
  CHECK(pairs[1].target == nullptr);
  CHECK(pairs[1].note.find("only in the reference") == 0);
  CHECK(pairs[2].target == &target.tensors[1]);
  CHECK(pairs[3].reference == nullptr);
}

TEST_CASE("conv1 never answers conv10; it is named as the nearest") {
  const auto reference = dump_of({tensor("conv1")}), target = dump_of({tensor("conv10"), tensor("other")});
  const auto pairs = pair::match(reference, target).pairs;
  REQUIRE(pairs.size() == 3);
  CHECK(pairs[0].target == nullptr);
  CHECK(pairs[0].note.find("nearest: conv10") != std::string::npos);
}

TEST_CASE("equal names on one side are kept: the n-th answers the n-th") {
  const auto reference = dump_of({tensor("a"), tensor("a")}), target = dump_of({tensor("a"), tensor("a"), tensor("a")});
  const auto pairs = pair::match(reference, target).pairs;
  REQUIRE(pairs.size() == 3);
  CHECK(pairs[0].target == &target.tensors[0]);
  CHECK(pairs[1].target == &target.tensors[1]);
  CHECK(pairs[2].target == &target.tensors[2]);
}

TEST_CASE("one step and one rank on each side answer each other, and that is said") {
  auto left = tensor("a"), right = tensor("a");
  left.step = 3;
  right.step = 8;
  right.rank = 2;
  const auto reference = dump_of({left}), target = dump_of({right});
  const auto pairing = pair::match(reference, target);
  REQUIRE(pairing.pairs.size() == 1);
  CHECK(pairing.notes.size() == 2);
  CHECK(pairing.notes[0] == "The reference has step 3, the target step 8: they are compared with each other.");
}

TEST_CASE("with several steps a step answers its own number only") {
  auto a0 = tensor("a"), a1 = tensor("a");
  a1.step = 1;
  auto b1 = a1, b2 = a1;
  b2.step = 2;
  const auto reference = dump_of({a0, a1}), target = dump_of({b1, b2});
  const auto pairs = pair::match(reference, target).pairs;
  REQUIRE(pairs.size() == 3);
  CHECK(pairs[0].target == nullptr);
  CHECK(pairs[1].target == &target.tensors[0]);
  CHECK(pairs[2].reference == nullptr);
}

TEST_CASE("two single files answer each other whatever their names") {
  auto reference = dump_of({tensor("gpu_input")}), target = dump_of({tensor("npu_input")});
  CHECK(pair::match(reference, target).pairs.size() == 2);
  reference.tool = target.tool = "file";
  CHECK(pair::match(reference, target).pairs.size() == 1);
}

TEST_CASE("an f32 row behind a bf16 operator carries bf16 noise, one before it does not; ranks do not mix") {
  auto before = tensor("a"), bf16 = tensor("b"), behind = tensor("c"), other_rank = tensor("d");
  bf16.dtype = MSP_BF16;
  other_rank.rank = 1;
  const auto reference = dump_of({before, bf16, behind, other_rank}), target = reference;
  const auto pairs = pair::match(reference, target).pairs;
  CHECK(pairs[0].noise_dtype == MSP_F32);
  CHECK(pairs[1].noise_dtype == MSP_BF16);
  CHECK(pairs[2].noise_dtype == MSP_BF16);
  CHECK(pairs[3].noise_dtype == MSP_F32);
}

TEST_CASE("a cast that only the target has is upstream of what runs behind it") {
  auto cast = tensor("Tensor.half"), before = tensor("a"), behind = tensor("b");
  cast.dtype = MSP_F16;
  const auto reference = dump_of({before, behind}), target = dump_of({before, cast, behind});
  const auto pairs = pair::match(reference, target).pairs;
  CHECK(pairs[0].noise_dtype == MSP_F32);
  CHECK(pairs[1].noise_dtype == MSP_F16);
}

TEST_CASE("a call of the optimizer answers itself when one side does not know that it is one") {
  auto update = tensor("Tensor.add_"), forward = tensor("Tensor.add_");
  update.phase = dump::Phase::update;
  const auto reference = dump_of({update}), target = dump_of({forward});
  CHECK(pair::match(reference, target).pairs.size() == 1);
}

TEST_CASE("plain files have no upstream") {
  auto half = tensor("a"), single = tensor("b");
  half.dtype = MSP_F16;
  half.execution_index = single.execution_index = -1;
  const auto reference = dump_of({half, single}), target = reference;
  CHECK(pair::match(reference, target).pairs[1].noise_dtype == MSP_F32);
}

TEST_CASE("uninitialised memory, receive buffers and devices say nothing; --no-ignore judges them") {
  CHECK(!pair::ignored_reason(tensor("Torch.empty")).empty());
  CHECK(pair::ignored_reason(tensor("Torch.empty", "0", dump::Direction::input)).empty());
  CHECK(!pair::ignored_reason(tensor("NPU.npu_fusion_attention", "4")).empty());
  CHECK(pair::ignored_reason(tensor("NPU.npu_fusion_attention", "0")).empty());
  CHECK(!pair::ignored_reason(tensor("Distributed.all_gather_into_tensor", "0", dump::Direction::input)).empty());
  CHECK(pair::ignored_reason(tensor("Functional.linear")).empty());
  const auto reference = dump_of({tensor("Torch.empty")}), target = reference;
  CHECK(!pair::match(reference, target).pairs[0].ignored.empty());
  CHECK(pair::match(reference, target, {.ignore = false}).pairs[0].ignored.empty());
}

TEST_CASE("a path answers another path without a word, but a path against a mode is judged") {
  auto path = tensor("Functional.pad", "2", dump::Direction::input), mode = path;
  path.kind = mode.kind = dump::Kind::scalar;
  path.scalar = "str /data/a";
  path.ignored_scalar = true;
  mode.scalar = "str constant";
  const auto left = dump_of({path}), same = left, right = dump_of({mode});
  CHECK(!pair::match(left, same).pairs[0].ignored.empty());
  CHECK(pair::match(left, right).pairs[0].ignored.empty());
  CHECK(pair::match(right, left).pairs[0].ignored.empty());
}
