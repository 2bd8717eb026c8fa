#include "plugin/call.h"

using msprobe::dump::Tensor;
using msprobe::engine::Planned;

namespace {

msp_str text(std::string_view view) {
  return {view.data(), view.size()};
}

msp_tensor facts_of_tensor(const Tensor& tensor) {
  msp_tensor facts{};
  facts.struct_size = sizeof facts;
  facts.dtype = tensor.kind == msprobe::dump::Kind::scalar ? MSP_DTYPE_NONE : tensor.dtype;
  facts.kind = static_cast<std::uint32_t>(tensor.kind);
  facts.ndim = static_cast<std::uint32_t>(tensor.shape.size());
  facts.stats_mask = tensor.statistics.mask;
  facts.has_data = tensor.kind == msprobe::dump::Kind::tensor && !tensor.problem;
  facts.element_count = 1;
  for (const std::int64_t size : tensor.shape) facts.element_count *= static_cast<std::uint64_t>(size);
  facts.shape = tensor.shape.data();
  facts.stats = tensor.statistics.value.data();
  facts.name = text(tensor.name);
  facts.layer = text(tensor.layer);
  facts.module = text(tensor.module);
  facts.op_type = text(tensor.op);
  facts.phase = text(to_text(tensor.phase));
  facts.direction = text(to_text(tensor.direction));
  facts.slot = text(tensor.slot);
  facts.source = text(tensor.source);
  facts.dtype_text = text(tensor.dtype_text);
  facts.value = text(tensor.scalar);
  facts.step = tensor.step;
  facts.rank = tensor.rank;
  facts.call_index = tensor.call;
  facts.execution_index = tensor.execution_index;
  facts.checksum_kind = text(tensor.checksum_kind);
  facts.checksum = text(tensor.checksum);
  facts.file = text(tensor.file);
  return facts;
}

}  // namespace

void msp_call::enter(msprobe::engine::Worker* on, msprobe::result::Row* of) {
  worker = on;
  row = of;
  failed = MSP_OK;
  why.clear();
  error.reset();
  cancelled = false;
  thread = std::this_thread::get_id();
}

void msp_call::leave() {
  thread = std::thread::id();
  worker = nullptr;
  row = nullptr;
  facts.clear();
  scratch.clear();
  opened.clear();
  blocks = {};
}

const msp_pair* msp_call::facts_of(const Planned& planned) {
  auto made = std::make_unique<Facts>();
  made->pair.struct_size = sizeof made->pair;
  made->pair.kind = static_cast<std::uint32_t>(planned.kind);
  made->pair.index = planned.index;
  made->pair.threshold = planned.threshold;
  made->pair.threshold_source = text(planned.threshold_source);
  made->pair.noise_dtype = planned.noise_dtype;
  for (std::size_t side = 0; side < 2; ++side) {
    if (!planned.side[side]) continue;
    made->side[side] = facts_of_tensor(*planned.side[side]);
    made->pair.side[side] = &made->side[side];
  }
  facts.push_back(std::move(made));
  return &facts.back()->pair;
}

const Planned* msp_call::planned_of(const msp_pair* pair) const {
  for (const auto& known : facts)
    if (&known->pair == pair) return &(*analysis.plan_)[known->pair.index];
  return nullptr;
}

const Tensor* msp_call::tensor_of(const msp_tensor* tensor) const {
  for (const auto& known : facts)
    for (std::size_t side = 0; side < 2; ++side)
      if (&known->side[side] == tensor) return (*analysis.plan_)[known->pair.index].side[side];
  return nullptr;
}

const msprobe::dump::Data& msp_call::open(const Tensor& tensor, int side) {
  for (const Opened& known : opened)
    if (known.tensor == &tensor) return *known.data;
  opened.push_back({&tensor, worker->open(tensor, side)});
  return *opened.back().data;
}
