#include "sample_report.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "msprobe/metrics.h"

namespace msprobe::test {
namespace {

using namespace result;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

constexpr ColumnType F64 = ColumnType::f64, I64 = ColumnType::i64, TEXT = ColumnType::text, BOOL = ColumnType::boolean;

std::vector<Column> standard_columns() {
#define COLUMN(key, type, direction, doc) Column{#key, type, doc, direction, false},
  std::vector<Column> columns = {MSP_METRICS(COLUMN)};
#undef COLUMN
  columns.push_back({"internal", F64, "for finish only", 0, true});
  return columns;
}

/// xorshift: the same on every machine.
class Random {
 public:
  double uniform() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<double>(state_ >> 11) * 0x1p-53;
  }

 private:
  std::uint64_t state_ = 0x9E3779B97F4A7C15;
};

Side side(const std::string& name, const std::string& dtype, double scale) {
  Side made;
  made.name = name;
  made.dtype = dtype;
  made.shape = {{2, 6, 8}};
  made.statistics.mask = 0xF;
  made.statistics.value = {2.6493780612945557 * scale, -2.737746477127075 * scale, 0.08463605493307114 * scale,
                           15.249595642089844 * scale};
  return made;
}

void set_metrics(Row& row, double error) {
  row.metrics.assign(MSP_METRIC_COUNT, Value{});
  const auto set = [&](int at, Value value) { row.metrics[static_cast<std::size_t>(at)] = std::move(value); };
  set(MSP_METRIC_rel_l2, error);
  set(MSP_METRIC_rel_l1, error * 0.9);
  if (std::isfinite(error)) {
    set(MSP_METRIC_cosine_distance, error * error / 2);
    set(MSP_METRIC_cosine, 1 - error * error / 2);
  }
  set(MSP_METRIC_max_abs, error * 3);
  set(MSP_METRIC_max_abs_index, std::int64_t{41});
  set(MSP_METRIC_max_abs_at, std::string("[0, 5, 1]"));
  set(MSP_METRIC_mean_abs, error / 3);
  set(MSP_METRIC_rmse, error / 2);
  set(MSP_METRIC_l1, error * 90);
  set(MSP_METRIC_l2, error * 10);
  set(MSP_METRIC_within_1e3, error > 1e-3 ? 0.25 : 1.0);
  set(MSP_METRIC_within_5e3, error > 5e-3 ? 0.5 : 1.0);
  set(MSP_METRIC_norm_ratio, 1 + error / 7);
  set(MSP_METRIC_sqnr_db, error == 0 ? infinity : -20 * std::log10(error));
  set(MSP_METRIC_max_ulp, std::floor(error * 1e7));
  set(MSP_METRIC_block_error, error * 1.01);
  set(MSP_METRIC_both_zero, false);
  set(MSP_METRIC_elements, std::int64_t{96});
  for (int at = MSP_METRIC_class_mismatch; at < MSP_METRIC_COUNT; ++at) set(at, std::int64_t{0});
}

struct RowSpec {
  const char *module, *op;
  dump::Phase phase;
  dump::Direction direction;
  const char* slot;
  const char* source;
  Verdict verdict;
  double error;
};

Row make_row(const RowSpec& spec) {
  Row row;
  row.module = spec.module;
  row.op = spec.op;
  row.layer = row.module + "." + row.op;
  row.call = 0;
  row.phase = spec.phase;
  row.direction = spec.direction;
  row.slot = spec.slot;
  row.source = spec.source;
  row.call_name = row.layer + "." + std::string(dump::to_text(spec.phase)) + ".0";
  row.name = row.call_name + "." + std::string(dump::to_text(spec.direction)) + "." + row.slot;
  row.reference = side(row.name, "f32", 1);
  row.target = side(row.name, "f32", 1.001);
  row.verdict = spec.verdict;
  row.error = spec.error;
  row.threshold = 1e-5;
  row.threshold_from = "auto: f32 upstream";
  set_metrics(row, spec.error);
  if (spec.verdict == Verdict::fail) row.why = "relative error above the threshold";
  return row;
}

void finish(Report& report) {
  auto& summary = report.summary;
  std::int64_t execution = 0;
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    auto& row = report.rows[i];
    row.index = i;
    if (row.execution_index < 0 && row.reference) row.execution_index = execution++;
    switch (row.verdict) {
      case Verdict::pass:
        ++summary.pass;
        break;
      case Verdict::warn:
        ++summary.warn;
        break;
      case Verdict::fail:
        ++summary.fail;
        break;
      case Verdict::skip:
        ++summary.skip;
        break;
      case Verdict::error:
        ++summary.error;
        break;
    }
    if (row.verdict == Verdict::fail && !summary.first_bad) summary.first_bad = i;
    if (row.error && !(*row.error <= summary.max_error.value_or(-1))) summary.max_error = row.error;
  }
  summary.compared = summary.pass + summary.warn + summary.fail;
  summary.passed = summary.fail == 0 && summary.compared > 0 && summary.error == 0;
  summary.incomplete = summary.error > 0 || summary.unmatched_reference + summary.unmatched_target > 0;
}

Report frame() {
  Report report;
  report.version = "1.2.0";
  report.mode = "veRL";
  report.command = {"msprobe", "compare", "-r", "gpu_dump/", "-t", "npu_dump/"};
  report.started = "2026-12-01T12:00:00Z";
  report.seconds = 0.25;
  report.reference = {"gpu_dump/step0", "ascend msprobe", "tensor", "mix", "PyTorch", 12, 4608, false, {}};
  report.target = {"npu_dump/step0",
                   "ascend msprobe",
                   "tensor",
                   "mix",
                   "PyTorch",
                   11,
                   4224,
                   false,
                   {"stack.json is missing: no source lines"}};
  report.options = {{"error_threshold", std::string("auto")},
                    {"compare_mode", std::string("layerwise")},
                    {"nan", std::string("warn")},
                    {"ftz", false},
                    {"atol", Value{}}};
  report.columns = standard_columns();
  return report;
}

}  // namespace

Report small_report() {
  constexpr auto forward = dump::Phase::forward, backward = dump::Phase::backward;
  constexpr auto input = dump::Direction::input, parameter = dump::Direction::parameter,
                 output = dump::Direction::output, gradient = dump::Direction::gradient;
  auto report = frame();
  const RowSpec specs[] = {
      {"Module.embed", "Embedding", forward, output, "0", "models.py:12 in forward", Verdict::pass, 0},
      {"Module.blocks.0.ln1", "LayerNorm", forward, input, "0", "models.py:39 in forward", Verdict::pass, 0},
      {"Module.blocks.0.ln1", "LayerNorm", forward, output, "0", "models.py:39 in forward", Verdict::pass, 2.1e-7},
      {"Module.blocks.0.attn", "Attention", forward, output, "0", "models.py:40 in forward", Verdict::warn, 9.7e-6},
      {"Module.blocks.0.ln2", "LayerNorm", forward, input, "0", "models.py:41 in forward", Verdict::pass, 3.3e-7},
      {"Module.blocks.0.ln2", "LayerNorm", forward, parameter, "weight", "models.py:41 in forward", Verdict::pass, 0},
      {"Module.blocks.0.ln2", "LayerNorm", forward, output, "0", "models.py:41 in forward", Verdict::fail, 0.031},
      {"Module.blocks.0.mlp", "Linear", forward, output, "0", "models.py:42 in forward", Verdict::fail, 0.0172},
      {"Module.head", "Linear", forward, output, "0", "models.py:50 in forward", Verdict::fail, infinity},
      {"Module.head", "Linear", backward, gradient, "weight", "", Verdict::fail, nan},
  };
  for (const auto& spec : specs) report.rows.push_back(make_row(spec));
  report.rows[6].origin = true;
  report.rows[7].origin = false;
  report.rows[8].why = "3 elements are NaN in the target only";
  auto unreadable = make_row({"Module.head", "Linear", forward, input, "0", "", Verdict::error, 0});
  unreadable.error.reset();
  unreadable.threshold.reset();
  unreadable.metrics.clear();
  unreadable.code = "E4002";
  unreadable.why = "file is cut short: expected 512 bytes, found 100 (still being written?)";
  report.rows.push_back(unreadable);
  auto missing = make_row({"Module.aux", "Linear", forward, output, "0", "", Verdict::skip, 0});
  missing.error.reset();
  missing.threshold.reset();
  missing.metrics.clear();
  missing.target.reset();
  missing.why = "only in the reference; nearest: Module.head.Linear.forward.0.output.0";
  report.rows.push_back(missing);
  report.summary.unmatched_reference = 1;
  finish(report);
  report.findings = {
      {Verdict::fail,
       "precondition.settings",
       "Settings differ at the first step: eps of LayerNorm is 1e-05 in the "
       "reference and 0.1 in the target. Fix this first.",
       "第一步的设置不一致：LayerNorm 的 eps 在基准中是 1e-05，在目标中是 0.1。请先修正。",
       {5, 6}},
      {Verdict::fail,
       "origin",
       "The error is born in Module.blocks.0.ln2.LayerNorm: its inputs and parameters agree, "
       "its output does not.",
       "误差产生于 Module.blocks.0.ln2.LayerNorm：输入和参数一致，输出不一致。",
       {6}},
      {Verdict::warn, "incomplete", "1 tensor could not be read, 1 has no partner.", "", {10, 11}},
      {Verdict::pass, "dtypes", "Both sides are f32.", "两侧都是 f32。", {}},
  };
  return report;
}

Report equal_report() {
  auto report = frame();
  for (int i = 0; i < 6; ++i) {
    const auto module = "Module.layers." + std::to_string(i);
    report.rows.push_back(make_row({module.c_str(), "Linear", dump::Phase::forward, dump::Direction::output, "0",
                                    "models.py:9 in forward", Verdict::pass, 0}));
  }
  finish(report);
  return report;
}

Report large_report(std::size_t count) {
  auto report = frame();
  report.rows.reserve(count);
  Random random;
  constexpr const char* ops[] = {"LayerNorm", "Linear", "SelfAttention", "GELU", "Dropout"};
  constexpr dump::Direction directions[] = {dump::Direction::input, dump::Direction::parameter,
                                            dump::Direction::output};
  const std::size_t per_rank = std::max<std::size_t>(count / 32, 1);
  for (std::size_t i = 0; i < count; ++i) {
    const auto in_rank = i % per_rank;
    const auto module =
        "Module.model.encoder.layers." + std::to_string(in_rank / 15) + ".block" + std::to_string(in_rank / 3 % 5);
    const double drift = 1e-7 * std::pow(10.0, 4.0 * static_cast<double>(in_rank) / static_cast<double>(per_rank));
    double error = drift * (0.2 + random.uniform());
    const double luck = random.uniform();
    if (luck < 0.04) error = 0;
    if (luck > 0.9995) error = infinity;
    if (luck > 0.9998) error = nan;
    const auto verdict = !(error <= 1e-4) ? Verdict::fail : error > 6e-5 ? Verdict::warn : Verdict::pass;
    auto row =
        make_row({module.c_str(), ops[in_rank / 3 % 5], i % 7 == 3 ? dump::Phase::backward : dump::Phase::forward,
                  directions[in_rank % 3], "0", "modeling.py:128 in forward", verdict, error});
    const auto scatter = [&](int at) {
      auto& value = std::get<double>(row.metrics[static_cast<std::size_t>(at)]);
      value *= 0.5 + random.uniform();
    };
    for (const int at : {MSP_METRIC_rel_l1, MSP_METRIC_max_abs, MSP_METRIC_mean_abs, MSP_METRIC_rmse, MSP_METRIC_l1,
                         MSP_METRIC_l2, MSP_METRIC_block_error, MSP_METRIC_sqnr_db}) {
      scatter(at);
    }
    row.threshold = 1e-4;
    row.rank = static_cast<std::int64_t>(i / per_rank % 4);
    row.step = static_cast<std::int64_t>(i / per_rank / 4);
    row.execution_index = static_cast<std::int64_t>(in_rank / 3);
    report.rows.push_back(std::move(row));
  }
  finish(report);
  report.findings = {{Verdict::fail, "origin", "The error is born in many places.", "误差产生于多处。", {}}};
  return report;
}

Report hostile_report() {
  auto report = frame();
  const std::string names[] = {
      "</script><img src=x onerror=alert(1)>",
      "<!--<script>",
      "=HYPERLINK(\"http://example.invalid\",\"x\")",
      " @SUM(1+1)*cmd|' /C calc'!A0",
      "-2+3",
      "a,b;\"quoted\"",
      "line\nbreak\r\ttab",
      "\x1b[31mred\x1b[0m\a",
      std::string(300, 'n'),
      "\u202Egnp.reyal\u202C right to left \u05E9\u05DC\u05D5\u05DD",
      "层名.卷积.前向\u2028\u2029&amp;",
      "bad utf8 \xFF\xC0\xAF end",
      "../../etc/passwd",
      "a/b\\c:*?\"<>|",
      "e\u0301\u0302 combining",
      "__proto__",
      "constructor",
  };
  for (const auto& name : names) {
    auto row =
        make_row({"Module.x", "Linear", dump::Phase::forward, dump::Direction::output, "0", "", Verdict::fail, 0.5});
    row.name = row.layer = row.module = row.op = row.slot = row.source = row.why = name;
    row.reference->name = row.target->name = row.reference->dtype = name;
    report.rows.push_back(row);
  }
  report.reference.path = "</script><b>";
  report.target.notes = {"<img src=x onerror=alert(2)>"};
  report.columns.push_back({"<b>metric</b>", F64, "doc </script><i>", 1, false});
  report.columns.push_back({"__proto__", TEXT, "a name that objects have", 0, false});
  report.columns.push_back({"layer", TEXT, "same name as a fixed column", 0, false});
  finish(report);
  report.findings = {{Verdict::fail, "origin", "born in " + names[0] + names[7], "", {0}}};
  return report;
}

Report report_by_name(const std::string& name) {
  if (name == "small") return small_report();
  if (name == "equal") return equal_report();
  if (name == "hostile") return hostile_report();
  if (name == "empty") {
    auto report = frame();
    finish(report);
    return report;
  }
  if (name == "single") {
    auto report = equal_report();
    report.rows.resize(1);
    report.summary = {};
    finish(report);
    return report;
  }
  return large_report(std::stoul(name));
}

}  // namespace msprobe::test
