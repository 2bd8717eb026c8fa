#include "engine/diagnosis.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

/// Backward calls work with what their forward call has saved: its rows count as arguments.
using LayerCall =
    std::tuple<std::int64_t, std::int64_t, std::string, std::int64_t>;  // step, rank, layer, number of the call
LayerCall layer_call_of(const Row& row) {
  return {row.step, row.rank, row.layer, row.call};
}

using CallKey =
    std::tuple<std::int64_t, std::int64_t, std::int64_t, std::string>;  // step, rank, place, name of the call
CallKey call_of(const Row& row) {
  return {row.step, row.rank, row.execution_index, row.call_name};
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
  std::set<LayerCall> failed_forward;
  std::vector<Row*> failing;
  for (Row& row : rows) {
    row.origin.reset();
    if (row.execution_index >= 0) calls[call_of(row)].push_back(&row);
    if (!fails(row)) continue;
    failing.push_back(&row);
    if (row.phase == dump::Phase::forward) failed_forward.insert(layer_call_of(row));
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
      if (row->phase == dump::Phase::backward && failed_forward.contains(layer_call_of(*row)))
        row->origin = false;
      else if (call.has_inputs && call.all_known)
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

std::string counted(std::uint64_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string place_text(const Row& row) {
  if (row.execution_index < 0) return row.name;
  std::string text = row.layer;
  if (row.call > 0) text += fmt::format(" (call {})", row.call);
  return fmt::format("{} {} {} {}", text, to_text(row.phase), to_text(row.direction), row.slot);
}

std::string place_text_zh(const Row& row) {
  constexpr std::string_view phases[] = {"", "前向", "反向", "更新"};
  constexpr std::string_view directions[] = {"", "输入", "参数", "输出", "梯度"};
  if (row.execution_index < 0) return row.name;
  std::string text = row.layer;
  if (row.call > 0) text += fmt::format("（调用 {}）", row.call);
  return fmt::format("{} {}{} {}", text, phases[static_cast<std::size_t>(row.phase)],
                     directions[static_cast<std::size_t>(row.direction)], row.slot);
}

/// "step 1, ": only where a report has several.
std::string step_text(const result::Report& report, const Row& row) {
  for (const Row& other : report.rows)
    if (other.step != row.step) return fmt::format("step {}, ", row.step);
  return "";
}

std::string source_text(const Row& row) {
  return row.source.empty() ? "" : fmt::format(" [{}]", row.source);
}

std::string scalar_text(const std::optional<result::Side>& side) {
  return !side ? "-" : side->scalar.empty() ? "a tensor" : side->scalar;
}

/// One finding with the rows it speaks of.
void add(std::vector<Finding>& findings, Verdict level, const char* code, const std::vector<const Row*>& rows,
         std::string text, std::string text_zh) {
  Finding finding{level, code, std::move(text), std::move(text_zh), {}};
  for (const Row* row : rows) finding.rows.push_back(row->index);
  findings.push_back(std::move(finding));
}

std::string and_more(std::size_t count) {
  return count > 1 ? fmt::format(" and {} more", count - 1) : "";
}
std::string and_more_zh(std::size_t count) {
  return count > 1 ? fmt::format(" 等 {} 处", count) : "";
}

void add_network(const result::Report& report, std::vector<Finding>& findings) {
  // A dump that was cut off lacks rows for another reason, and two files are no networks.
  if (report.reference.incomplete || report.target.incomplete || report.reference.tool == "file" ||
      report.target.tool == "file")
    return;
  std::uint64_t both = 0, other_shape = 0;
  for (const Row& row : report.rows) {
    if (!row.reference || !row.target) continue;
    ++both;
    other_shape += row.kind != Kind::scalar && row.reference->shape != row.target->shape;
  }
  const result::Summary& summary = report.summary;
  const std::uint64_t alone = summary.unmatched_reference + summary.unmatched_target;
  if (std::max(summary.unmatched_reference, summary.unmatched_target) <= both && other_shape * 2 <= both) return;
  add(findings, Verdict::fail, "precondition.network", {},
      fmt::format("These look like two different networks: {} with a partner, {} without, {} of another shape. Check "
                  "that both dumps come "
                  "from the same model and the same dump level.",
                  counted(both, "row"), alone, other_shape),
      fmt::format("两份数据像是来自不同的网络：{} 行可以配对，{} 行没有对应，{} "
                  "行形状不同。请确认两侧是同一模型、同一采集级别。",
                  both, alone, other_shape));
}

void add_preconditions(const result::Report& report, std::vector<Finding>& findings) {
  add_network(report, findings);
  std::int64_t first_step = INT64_MAX;
  for (const Row& row : report.rows)
    if (row.reference && row.target) first_step = std::min(first_step, row.step);
  std::vector<const Row*> inputs, weights, settings;
  bool result_failed = false;
  for (const Row& row : report.rows) {
    if (row.step != first_step || row.execution_index < 0 || !fails(row)) continue;
    if (row.origin == true) {
      if (row.kind == Kind::scalar)
        settings.push_back(&row);
      else if (row.direction == Direction::parameter)
        weights.push_back(&row);
      else if (row.direction == Direction::input && row.phase == dump::Phase::forward && !result_failed)
        inputs.push_back(&row);
    }
    result_failed = result_failed || is_result(row);
  }
  if (!inputs.empty()) {
    // In a dump of operators weights are inputs too.
    const Row& first = *inputs[0];
    const bool is_module = !first.module.empty() && first.layer.starts_with(first.module);
    add(findings, Verdict::fail, "precondition.inputs", inputs,
        fmt::format(
            "{} differ before any layer has gone wrong: {}{}. Not comparable yet: give both runs the same {} first.",
            is_module ? "Inputs" : "Inputs or weights", place_text(first), and_more(inputs.size()),
            is_module ? "data" : "data and weights"),
        fmt::format("在任何层出错之前{}就不同：{}{}。尚不可比：请先让两侧使用相同的{}。",
                    is_module ? "输入" : "输入或权重", place_text_zh(first), and_more_zh(inputs.size()),
                    is_module ? "输入" : "输入和权重"));
  }
  if (!weights.empty())
    add(findings, Verdict::fail, "precondition.weights", weights,
        fmt::format("Weights differ at the first step: {}{}. Not comparable yet: load the same weights first.",
                    place_text(*weights[0]), and_more(weights.size())),
        fmt::format("第一步的权重就不同：{}{}。尚不可比：请先加载相同的权重。", place_text_zh(*weights[0]),
                    and_more_zh(weights.size())));
  if (!settings.empty()) {
    const Row& first = *settings[0];
    const std::string reference = scalar_text(first.reference), target = scalar_text(first.target);
    add(findings, Verdict::fail, "precondition.settings", settings,
        fmt::format("Arguments differ: {}: {} against {}{}. A possible cause: set them equal first.{}",
                    place_text(first), reference, target, and_more(settings.size()), source_text(first)),
        fmt::format("参数不同：{}：基准为 {}，目标为 {}{}。这可能就是原因：请先设为一致。{}", place_text_zh(first),
                    reference, target, and_more_zh(settings.size()), source_text(first)));
  }
  std::map<std::pair<std::string, std::string>, std::vector<const Row*>> dtypes;
  for (const Row& row : report.rows)
    if (row.reference && row.target && row.kind != Kind::scalar && row.reference->dtype != row.target->dtype)
      dtypes[{row.reference->dtype, row.target->dtype}].push_back(&row);
  for (const auto& [pair, rows] : dtypes)
    add(findings, Verdict::warn, "precondition.dtypes", rows,
        fmt::format("Dtypes differ: {} in the reference, {} in the target ({}). Thresholds follow the coarser one.",
                    pair.first, pair.second, counted(rows.size(), "row")),
        fmt::format("数据类型不同：基准为 {}，目标为 {}（{} 行）。阈值按较粗的格式放宽。", pair.first, pair.second,
                    rows.size()));
}

/// True when `outer` is the call of a module around (or equal to) the place of `inner`.
bool encloses(const Row& outer, const Row& inner) {
  if (outer.step != inner.step || outer.rank != inner.rank || outer.phase != inner.phase) return false;
  const bool is_module = outer.layer.size() > outer.module.size() && outer.layer.starts_with(outer.module);
  return is_module && !outer.module.empty() &&
         (inner.module == outer.module || inner.module.starts_with(outer.module + "."));
}

/// One finding a call, in order. A module around an origin shows the same error: it is named with it, and not at all
/// when what is wrong inside is an argument, which has a finding of its own.
void add_origins(const result::Report& report, std::vector<Finding>& findings) {
  const std::vector<Row>& rows = report.rows;
  std::vector<const Row*> origins;
  for (const Row& row : rows)
    if (fails(row) && row.origin == true) origins.push_back(&row);
  std::stable_sort(origins.begin(), origins.end(),
                   [](const Row* a, const Row* b) { return order_of(*a) < order_of(*b); });

  struct Told {
    const Row* row;
    std::vector<const Row*> rows;
    std::vector<std::string> around;
  };
  std::vector<Told> told;
  for (const Row* row : origins) {
    const auto known = std::find_if(told.begin(), told.end(), [&](const Told& t) {
      return call_of(*row) == call_of(*t.row) || encloses(*row, *t.row);
    });
    if (known == told.end()) {
      told.push_back({row, {row}, {}});
      continue;
    }
    known->rows.push_back(row);
    const bool other_call = call_of(*row) != call_of(*known->row);
    if (other_call && std::find(known->around.begin(), known->around.end(), row->layer) == known->around.end())
      known->around.push_back(row->layer);
  }
  std::set<std::uint64_t> known;
  for (const Finding& finding : findings) known.insert(finding.rows.begin(), finding.rows.end());
  for (Told& t : told) {
    const auto result = std::find_if(t.rows.begin(), t.rows.end(), [&](const Row* row) {
      return is_result(*row) && call_of(*row) == call_of(*t.row);
    });
    if (result == t.rows.end()) {
      if (!known.contains(t.row->index))  // else told among the preconditions
        add(findings, Verdict::fail, "origin", t.rows,
            fmt::format("The error is first seen in {}{}: nothing before it explains it: {}.{}",
                        step_text(report, *t.row), place_text(*t.row), t.row->why, source_text(*t.row)),
            fmt::format("误差首先出现在 {}{}，此前没有原因：{}。{}", step_text(report, *t.row), place_text_zh(*t.row),
                        t.row->why, source_text(*t.row)));
      continue;
    }
    t.row = *result;
    // Matrix units round operands to 11 bits where the framework allows it, and dtypes do not show it.
    constexpr double tf32_threshold = 4 * 0x1p-11;
    const bool rounding = t.row->threshold_from == "auto: f32" && t.row->error.value_or(INFINITY) <= tf32_threshold;
    const auto around = fmt::format("{}", fmt::join(t.around, ", ")),
               around_zh = fmt::format("{}", fmt::join(t.around, "、"));
    add(findings, Verdict::fail, "origin", t.rows,
        fmt::format("The error is born in {}{}: its inputs agree, its output does not: {}.{}{}{}",
                    step_text(report, *t.row), place_text(*t.row), t.row->why,
                    around.empty() ? "" : " It shows in " + around + " around it.",
                    rounding ? " The size fits tf32 rounding: where that is allowed, give --noise-dtype tf32." : "",
                    source_text(*t.row)),
        fmt::format("误差产生于 {}{}：其输入一致，输出不一致：{}。{}{}{}", step_text(report, *t.row),
                    place_text_zh(*t.row), t.row->why, around_zh.empty() ? "" : "外层模块同样可见：" + around_zh + "。",
                    rounding ? "其大小符合 tf32 舍入：若允许，可用 --noise-dtype tf32。" : "", source_text(*t.row)));
  }
}

void add_rest(const result::Report& report, std::vector<Finding>& findings) {
  const result::Summary& summary = report.summary;
  std::vector<const Row*> unreadable, unmatched, passed_on, unknown, warned;
  for (const Row& row : report.rows) {
    if (row.verdict == Verdict::warn) warned.push_back(&row);
    if (fails(row) && !row.origin && row.execution_index >= 0) unknown.push_back(&row);
    if (row.verdict == Verdict::error) unreadable.push_back(&row);
    if (!row.reference || !row.target) unmatched.push_back(&row);
    if (fails(row) && row.origin == false) passed_on.push_back(&row);
  }
  if (!passed_on.empty())
    add(findings, Verdict::fail, "passed_on", passed_on,
        fmt::format("Passed on: {} with an error that came from before.", counted(passed_on.size(), "row")),
        fmt::format("{} 行只是传递了上游的误差。", passed_on.size()));
  if (!unknown.empty())
    add(findings, Verdict::fail, "origin.unknown", unknown,
        fmt::format("Origin unknown: {}, their inputs are not known; the first is {}.",
                    counted(unknown.size(), "failing row"), place_text(*unknown[0])),
        fmt::format("来源未知：{} 行失败但没有可用的输入；第一处为 {}。", unknown.size(), place_text_zh(*unknown[0])));
  if (!warned.empty())
    add(findings, Verdict::warn, "warnings", warned,
        fmt::format("Warnings: {}; the first, {}: {}.", counted(warned.size(), "row"), place_text(*warned[0]),
                    warned[0]->why),
        fmt::format("警告：{} 行；第一处 {}：{}。", warned.size(), place_text_zh(*warned[0]), warned[0]->why));
  if (!unreadable.empty())
    add(findings, Verdict::warn, "unreadable", unreadable,
        fmt::format("Unreadable: {}; each row says why.", counted(unreadable.size(), "tensor")),
        fmt::format("{} 个张量无法读取或判定，原因见对应行。", unreadable.size()));
  if (!unmatched.empty()) {
    std::vector<std::string> sides, sides_zh;
    for (const auto& [count, side, side_zh] : {std::tuple(summary.unmatched_reference, "reference", "基准"),
                                               std::tuple(summary.unmatched_target, "target", "目标")})
      if (count > 0) {
        sides.push_back(fmt::format("{} only in the {}", counted(count, "tensor"), side));
        sides_zh.push_back(fmt::format("{} 个张量只在{}侧", count, side_zh));
      }
    add(findings, Verdict::warn, "unmatched", unmatched,
        fmt::format("Unmatched: {}; the first is {}.", fmt::join(sides, ", "), unmatched[0]->name),
        fmt::format("未配对：{}；第一个为 {}。", fmt::join(sides_zh, "，"), unmatched[0]->name));
  }
  for (const auto& [input, side, side_zh] :
       {std::tuple(&report.reference, "reference", "基准"), std::tuple(&report.target, "target", "目标")})
    if (input->incomplete)
      add(findings, Verdict::warn, "incomplete", {},
          fmt::format("The {} is incomplete: only what was whole has been compared.", side),
          fmt::format("{}数据不完整：只比对了完整的部分。", side_zh));
  if (summary.partial)
    add(findings, Verdict::warn, "interrupted", {}, "Interrupted: the rows that were not reached are skipped.",
        "已中断：未处理的行被跳过。");
  if (summary.compared == 0) add(findings, Verdict::warn, "nothing", {}, "Nothing was compared.", "没有比对任何内容。");
}

}  // namespace

std::vector<Finding> diagnose(const result::Report& report, std::vector<Finding> from_analyzer) {
  std::vector<Finding> findings;
  add_preconditions(report, findings);
  add_origins(report, findings);
  findings.insert(findings.end(), std::make_move_iterator(from_analyzer.begin()),
                  std::make_move_iterator(from_analyzer.end()));
  add_rest(report, findings);
  return findings;
}

}  // namespace msprobe::engine
