#include "engine/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace msprobe::engine {
namespace {

using dump::Direction;
using dump::Kind;
using result::Finding;
using result::Row;
using result::Verdict;

bool fails(const Row& row) {
  return row.verdict == Verdict::fail;
}
bool compared(const Row& row) {
  return row.verdict == Verdict::pass || row.verdict == Verdict::warn || row.verdict == Verdict::fail;
}
bool is_result(const Row& row) {
  return row.direction == Direction::output || row.direction == Direction::gradient;
}
bool is_argument(const Row& row) {
  return row.direction == Direction::input || row.direction == Direction::parameter;
}

/// Place within a call: scalars first, then input, parameter, output, gradient.
int place(const Row& row) {
  return row.kind == Kind::scalar ? -1 : static_cast<int>(row.direction);
}

auto order_of(const Row& row) {
  return std::tuple(row.step, row.execution_index, row.rank, place(row), row.index);
}

using CallKey = std::tuple<std::int64_t, std::int64_t, std::string>;  // step, rank, name of the call
CallKey call_of(const Row& row) {
  return {row.step, row.rank, row.call_name};
}

struct Call {
  bool has_inputs = false;    ///< an input or parameter of it was dumped
  bool all_known = true;      ///< each of them was compared
  double worst_argument = 0;  ///< infinite: a class or shape mismatch, or a setting that differs
  double worst_result = 0;
};

Call study(const std::vector<const Row*>& rows) {
  Call call;
  for (const Row* row : rows) {
    const double error = row->error.value_or(0);
    if (is_result(*row) && fails(*row)) call.worst_result = std::max(call.worst_result, error);
    if (!is_argument(*row)) continue;
    if (row->kind == Kind::scalar) {
      if (fails(*row)) call.worst_argument = INFINITY;  // a setting that differs explains the output
      continue;
    }
    if (compared(*row)) {
      call.has_inputs = true;
      call.worst_argument = std::max(call.worst_argument, error);
    } else if (row->verdict == Verdict::error || !row->reference || !row->target) {
      call.all_known = false;
    }
  }
  return call;
}

}  // namespace

void mark_origins(std::vector<Row>& rows) {
  std::map<CallKey, std::vector<const Row*>> calls;
  std::vector<Row*> failing;
  for (Row& row : rows) {
    row.origin.reset();
    if (row.execution_index >= 0) calls[call_of(row)].push_back(&row);
    if (fails(row)) failing.push_back(&row);
  }
  std::stable_sort(failing.begin(), failing.end(),
                   [](const Row* a, const Row* b) { return order_of(*a) < order_of(*b); });

  // What has failed so far, by rank: it may explain what an argument of a later call shows.
  std::set<std::int64_t> failed_result;
  std::map<std::int64_t, std::int64_t> first_failed_step;
  for (Row* row : failing) {
    if (row->execution_index < 0) continue;  // a plain file: order decides
    const std::int64_t first_step = first_failed_step.try_emplace(row->rank, row->step).first->second;
    if (row->kind == Kind::scalar) {
      row->origin = true;  // a setting has no producer
    } else if (row->direction == Direction::parameter) {
      row->origin = first_step == row->step;  // the optimizer of an earlier bad step has moved it
    } else if (row->direction == Direction::input) {
      row->origin = !failed_result.contains(row->rank);
    } else {
      const Call call = study(calls[call_of(*row)]);
      if (call.has_inputs && call.all_known)
        row->origin = std::isfinite(call.worst_argument) && call.worst_argument <= 0.1 * call.worst_result;
      else if (call.worst_argument > 0)
        row->origin = false;
      failed_result.insert(row->rank);
    }
  }
}

std::optional<std::uint64_t> first_bad(const std::vector<Row>& rows) {
  const Row* best = nullptr;
  const auto rank = [](const Row& row) { return std::tuple(row.origin == false, order_of(row)); };
  for (const Row& row : rows)
    if (fails(row) && (!best || rank(row) < rank(*best))) best = &row;
  return best ? std::optional(best->index) : std::nullopt;
}

namespace {

std::string place_text(const Row& row) {
  if (row.execution_index < 0) return row.name;
  std::string text = row.layer;
  if (row.call > 0) text += fmt::format(" (call {})", row.call);
  return fmt::format("{} {} {} {}", text, to_text(row.phase), to_text(row.direction), row.slot);
}

std::string source_text(const Row& row) {
  return row.source.empty() ? "" : fmt::format(" [{}]", row.source);
}

std::string values_text(const Row& row) {
  return fmt::format("{} against {}", row.reference ? row.reference->scalar : "-",
                     row.target ? row.target->scalar : "-");
}

/// Rows of one kind of precondition, told in one sentence.
void add_precondition(std::vector<Finding>& findings, const char* code, const std::vector<const Row*>& rows,
                      const std::string& text, const std::string& text_zh) {
  if (rows.empty()) return;
  Finding finding{Verdict::fail, code, text, text_zh, {}};
  for (const Row* row : rows) finding.rows.push_back(row->index);
  findings.push_back(std::move(finding));
}

std::string and_more(std::size_t count) {
  return count > 1 ? fmt::format(" and {} more", count - 1) : "";
}
std::string and_more_zh(std::size_t count) {
  return count > 1 ? fmt::format(" 等 {} 处", count) : "";
}

void add_preconditions(const result::Report& report, std::vector<Finding>& findings) {
  const result::Summary& summary = report.summary;
  std::int64_t first_step = INT64_MAX;
  std::uint64_t both = 0, other_shape = 0;
  for (const Row& row : report.rows) {
    first_step = std::min(first_step, row.step);
    if (!row.reference || !row.target) continue;
    ++both;
    other_shape += row.kind != Kind::scalar && row.reference->shape != row.target->shape;
  }
  const std::uint64_t alone = std::max(summary.unmatched_reference, summary.unmatched_target);
  if (alone > both || other_shape * 2 > both)
    findings.push_back(
        {Verdict::fail,
         "precondition.network",
         fmt::format(
             "These look like two different networks: {} rows have a partner, {} have none, {} differ in shape. "
             "Check that both dumps come from the same model and the same dump level.",
             both, summary.unmatched_reference + summary.unmatched_target, other_shape),
         fmt::format("两份数据像是来自不同的网络：{} 行可以配对，{} 行没有对应，{} "
                     "行形状不同。请确认两侧是同一模型、同一采集级别。",
                     both, summary.unmatched_reference + summary.unmatched_target, other_shape),
         {}});

  std::vector<const Row*> inputs, weights, settings;
  bool result_failed = false;
  for (const Row& row : report.rows) {
    if (row.step != first_step || row.execution_index < 0) continue;
    if (fails(row) && row.origin == true) {
      if (row.kind == Kind::scalar)
        settings.push_back(&row);
      else if (row.direction == Direction::parameter)
        weights.push_back(&row);
      else if (row.direction == Direction::input && row.phase == dump::Phase::forward && !result_failed)
        inputs.push_back(&row);
    }
    result_failed = result_failed || (fails(row) && is_result(row));
  }
  if (!inputs.empty())
    add_precondition(findings, "precondition.inputs", inputs,
                     fmt::format("Inputs differ before any layer has gone wrong: {}{}. Not comparable yet: feed both "
                                 "runs the same data first.",
                                 place_text(*inputs[0]), and_more(inputs.size())),
                     fmt::format("在任何层出错之前输入就不同：{}{}。尚不可比：请先让两侧使用相同的输入。",
                                 place_text(*inputs[0]), and_more_zh(inputs.size())));
  if (!weights.empty())
    add_precondition(
        findings, "precondition.weights", weights,
        fmt::format("Weights differ at the first step: {}{}. Not comparable yet: load the same weights first.",
                    place_text(*weights[0]), and_more(weights.size())),
        fmt::format("第一步的权重就不同：{}{}。尚不可比：请先加载相同的权重。", place_text(*weights[0]),
                    and_more_zh(weights.size())));
  if (!settings.empty())
    add_precondition(
        findings, "precondition.settings", settings,
        fmt::format("Arguments differ: {}: {}{}. A possible cause: set them equal first.{}", place_text(*settings[0]),
                    values_text(*settings[0]), and_more(settings.size()), source_text(*settings[0])),
        fmt::format("参数不同：{}：{}{}。这可能就是原因：请先设为一致。", place_text(*settings[0]),
                    values_text(*settings[0]), and_more_zh(settings.size())));

  std::map<std::pair<std::string, std::string>, std::vector<std::uint64_t>> dtypes;
  for (const Row& row : report.rows)
    if (row.reference && row.target && row.kind != Kind::scalar && row.reference->dtype != row.target->dtype)
      dtypes[{row.reference->dtype, row.target->dtype}].push_back(row.index);
  for (const auto& [pair, indices] : dtypes)
    findings.push_back(
        {Verdict::warn, "precondition.dtypes",
         fmt::format("{} rows are {} in the reference and {} in the target: thresholds follow the coarser one.",
                     indices.size(), pair.first, pair.second),
         fmt::format("{} 行在参考侧为 {}，在目标侧为 {}：阈值按较粗的格式放宽。", indices.size(), pair.first,
                     pair.second),
         indices});
}

/// True when `outer` is the call of a module around (or equal to) the place of `inner`.
bool encloses(const Row& outer, const Row& inner) {
  if (outer.step != inner.step || outer.rank != inner.rank || outer.phase != inner.phase) return false;
  const bool is_module = outer.layer.size() > outer.module.size() && outer.layer.starts_with(outer.module);
  return is_module && !outer.module.empty() &&
         (inner.module == outer.module || inner.module.starts_with(outer.module + "."));
}

/// One finding a call, in order; modules around it show the same error and are named with it.
void add_origins(const std::vector<Row>& rows, std::vector<Finding>& findings) {
  std::vector<const Row*> origins;
  for (const Row& row : rows)
    if (fails(row) && row.origin == true && is_result(row)) origins.push_back(&row);
  std::stable_sort(origins.begin(), origins.end(),
                   [](const Row* a, const Row* b) { return order_of(*a) < order_of(*b); });

  struct Told {
    const Row* row;
    std::vector<std::uint64_t> rows;
    std::vector<std::string> around;
  };
  std::vector<Told> told;
  std::map<CallKey, std::size_t> by_call;
  for (const Row* row : origins) {
    auto entry = by_call.find(call_of(*row));
    if (entry == by_call.end()) {
      const auto inner = std::find_if(told.begin(), told.end(), [&](const Told& t) { return encloses(*row, *t.row); });
      const auto position = static_cast<std::size_t>(inner - told.begin());
      if (inner == told.end())
        told.push_back({row, {}, {}});
      else
        inner->around.push_back(row->layer);
      entry = by_call.emplace(call_of(*row), position).first;
    }
    told[entry->second].rows.push_back(row->index);
  }
  for (Told& t : told) {
    const double error = t.row->error.value_or(INFINITY);
    std::string around, around_zh;
    for (const std::string& layer : t.around) around += (around.empty() ? " Around it, it shows in " : ", ") + layer;
    if (!around.empty()) around += ".";
    for (const std::string& layer : t.around) around_zh += (around_zh.empty() ? "外层模块同样可见：" : "、") + layer;
    if (!around_zh.empty()) around_zh += "。";
    findings.push_back({Verdict::fail, "origin",
                        fmt::format("The error is born in {}: its inputs agree, its output is off by {:.3g}.{}{}",
                                    place_text(*t.row), error, around, source_text(*t.row)),
                        fmt::format("误差产生于 {}：其输入一致，输出误差为 {:.3g}。{}{}", place_text(*t.row), error,
                                    around_zh, source_text(*t.row)),
                        std::move(t.rows)});
  }
}

void add_rest(const result::Report& report, std::vector<Finding>& findings) {
  const result::Summary& summary = report.summary;
  std::vector<std::uint64_t> unreadable, unmatched, passed_on;
  for (const Row& row : report.rows) {
    if (row.verdict == Verdict::error) unreadable.push_back(row.index);
    if (!row.reference || !row.target) unmatched.push_back(row.index);
    if (fails(row) && row.origin == false) passed_on.push_back(row.index);
  }
  if (!passed_on.empty())
    findings.push_back({Verdict::fail, "passed_on",
                        fmt::format("{} rows only pass on an error that reached them.", passed_on.size()),
                        fmt::format("{} 行只是传递了上游的误差。", passed_on.size()), passed_on});
  if (!unreadable.empty())
    findings.push_back({Verdict::warn, "unreadable",
                        fmt::format("{} tensors could not be read or judged: see their rows.", unreadable.size()),
                        fmt::format("{} 个张量无法读取或判定，见对应行。", unreadable.size()), unreadable});
  if (!unmatched.empty())
    findings.push_back(
        {Verdict::warn, "unmatched",
         fmt::format("{} tensors are only in the reference, {} only in the target.", summary.unmatched_reference,
                     summary.unmatched_target),
         fmt::format("{} 个张量只在参考侧，{} 个只在目标侧。", summary.unmatched_reference, summary.unmatched_target),
         unmatched});
  for (const auto& [input, side, side_zh] :
       {std::tuple(&report.reference, "reference", "参考"), std::tuple(&report.target, "target", "目标")})
    if (input->incomplete)
      findings.push_back({Verdict::warn,
                          "incomplete",
                          fmt::format("The {} is incomplete: only what was whole has been compared.", side),
                          fmt::format("{}数据不完整：只比对了完整的部分。", side_zh),
                          {}});
  if (summary.partial)
    findings.push_back({Verdict::warn,
                        "interrupted",
                        "Interrupted: the rows that were not reached are skipped.",
                        "已中断：未处理的行被跳过。",
                        {}});
  if (summary.compared == 0)
    findings.push_back({Verdict::warn, "nothing", "Nothing was compared.", "没有比对任何内容。", {}});
}

}  // namespace

std::vector<Finding> diagnose(const result::Report& report, std::vector<Finding> from_analyzer) {
  std::vector<Finding> findings;
  add_preconditions(report, findings);
  add_origins(report.rows, findings);
  findings.insert(findings.end(), std::make_move_iterator(from_analyzer.begin()),
                  std::make_move_iterator(from_analyzer.end()));
  add_rest(report, findings);
  return findings;
}

}  // namespace msprobe::engine
