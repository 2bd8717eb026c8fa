#include "engine/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <mutex>

#include "base/error.h"
#include "engine/diagnosis.h"
#include "engine/pool.h"
#include "engine/progress.h"
#include "engine/summary.h"
#include "engine/worker.h"
#include "msprobe/dtype.hpp"

namespace msprobe::engine {
namespace {

using result::Finding;
using result::Row;
using result::Verdict;

result::Side side_of(const dump::Tensor& tensor) {
  result::Side side;
  side.name = tensor.name;
  side.dtype = tensor.dtype == MSP_DTYPE_NONE ? tensor.dtype_text : std::string(dtype_name(tensor.dtype));
  if (tensor.kind != dump::Kind::scalar) side.shape = tensor.shape;
  side.statistics = tensor.statistics;
  if (!tensor.checksum.empty()) side.checksum = tensor.checksum_kind + ":" + tensor.checksum;
  side.scalar = tensor.scalar;
  return side;
}

Row row_of(const pair::Pair& pair, std::uint64_t index) {
  const dump::Tensor& tensor = pair.any();
  Row row;
  row.index = index;
  row.step = tensor.step;
  row.rank = tensor.rank;
  row.call = tensor.call;
  row.execution_index = tensor.execution_index;
  row.name = tensor.name;
  row.call_name = tensor.call_name;
  row.layer = tensor.layer;
  row.module = tensor.module;
  row.op = tensor.op;
  row.slot = tensor.slot;
  row.source = tensor.source.empty() && pair.target ? pair.target->source : tensor.source;
  row.phase = tensor.phase;
  row.direction = tensor.direction;
  row.kind = tensor.kind;
  if (pair.reference) row.reference = side_of(*pair.reference);
  if (pair.target) row.target = side_of(*pair.target);
  return row;
}

/// The poorer of the two sides. A scalar beside a tensor is a different argument, and judged as one.
dump::Kind judged_kind(const dump::Tensor& a, const dump::Tensor& b) {
  return std::max(a.kind, b.kind, [](dump::Kind x, dump::Kind y) { return static_cast<int>(x) < static_cast<int>(y); });
}

void set_error(Row& row, const std::string& code, std::string why) {
  row.verdict = Verdict::error;
  row.code = code;
  row.why = std::move(why);
  row.error = std::numeric_limits<double>::infinity();
}

struct Prepared {
  std::vector<Planned> plan;          ///< what an analyzer can see
  std::vector<std::uint64_t> judged;  ///< indices that go to the analyzer
};

Prepared prepare(const pair::Pairing& pairing, const Analysis& analysis, const Options& options,
                 std::vector<Row>& rows) {
  Prepared prepared;
  rows.reserve(pairing.pairs.size());
  for (const pair::Pair& pair : pairing.pairs) {
    Row row = row_of(pair, rows.size());
    Planned planned{.index = row.index,
                    .side = {pair.reference, pair.target},
                    .noise_dtype = options.noise_dtype == MSP_DTYPE_NONE ? pair.noise_dtype : options.noise_dtype,
                    .threshold = std::numeric_limits<double>::quiet_NaN(),
                    .threshold_source = {}};
    if (!pair.reference || !pair.target) {
      row.why = pair.note;
    } else {
      row.kind = planned.kind = judged_kind(*pair.reference, *pair.target);
      if (const Limit* limit = find_limit(options.limits, row, "error")) {
        planned.threshold = limit->limit;
        planned.threshold_source = limit->source;
      } else if (options.error_threshold) {
        planned.threshold = *options.error_threshold;
        planned.threshold_source = "--error-threshold";
      }
      const auto& problem = pair.reference->problem ? pair.reference->problem : pair.target->problem;
      if (!pair.ignored.empty()) {
        row.why = pair.ignored;
      } else if (problem) {
        set_error(row, problem->code,
                  fmt::format("{}: {}", pair.reference->problem ? "reference" : "target", problem->text));
      } else if (!analysis.accepts(row.kind)) {
        row.why = fmt::format("{} does not judge rows of kind {}", analysis.mode(), dump::to_text(row.kind));
      } else {
        row.why = "not compared: interrupted";  // until a worker gets to it
        prepared.judged.push_back(row.index);
      }
    }
    prepared.plan.push_back(std::move(planned));
    rows.push_back(std::move(row));
  }
  return prepared;
}

result::Input input_of(const dump::Dump& dump, std::uint64_t bytes_read) {
  const auto tensors = std::count_if(dump.tensors.begin(), dump.tensors.end(),
                                     [](const dump::Tensor& tensor) { return tensor.kind != dump::Kind::scalar; });
  return {dump.path,  dump.tool,       dump.task, dump.level, dump.framework, static_cast<std::uint64_t>(tensors),
          bytes_read, dump.incomplete, dump.notes};
}

}  // namespace

result::Report run(const dump::Dump& reference, const dump::Dump& target, const pair::Pairing& pairing,
                   Analysis& analysis, const Options& options) {
  const auto begun = std::chrono::steady_clock::now();
  result::Report report;
  report.mode = analysis.mode();
  const Prepared prepared = prepare(pairing, analysis, options, report.rows);

  Pool pool(options.jobs);
  Shared shared{.pool = pool, .dump_options = options.dump, .cancelled = options.cancelled, .workers = {}};
  for (unsigned i = 0; i < pool.workers(); ++i) shared.workers.push_back(std::make_unique<Worker>(shared, i));

  analysis.begin(prepared.plan, report.rows);
  check_limits(options.limits, analysis.columns());
  {
    Progress progress(options.progress, prepared.judged.size(), shared.bytes_done);
    std::mutex serial;
    const auto task = [&](unsigned number, std::uint64_t position) {
      const std::uint64_t index = prepared.judged[position];
      Row& row = report.rows[index];
      std::unique_lock lock(serial, std::defer_lock);
      if (!analysis.parallel()) lock.lock();
      try {
        analysis.analyze(*shared.workers[number], prepared.plan[index], row);
      } catch (const Error& error) {
        set_error(row, error.code(), fmt::format("{}: {}", error.what_happened(), error.where()));
      } catch (const Cancelled&) {
        row.why = "not compared: interrupted";
      }
      if (!options.limits.empty()) apply_limits(options.limits, analysis.columns(), row);
      progress.row_done(row.verdict == Verdict::fail || row.verdict == Verdict::error);
    };
    pool.run(prepared.judged.size(), task, options.cancelled);
  }
  std::vector<result::Finding> findings;
  analysis.finish(report.rows, findings);

  report.columns = analysis.columns();
  report.reference = input_of(reference, shared.bytes_read[0]);
  report.target = input_of(target, shared.bytes_read[1]);
  report.summary.partial = options.cancelled();
  mark_origins(report.rows);
  summarize(report, options.allow_unmatched, options.fail_on_warn);
  for (const std::string& note : pairing.notes) report.findings.push_back({Verdict::warn, "pairing", note, "", {}});
  for (Finding& finding : unused_limits(options.limits, report.rows)) report.findings.push_back(std::move(finding));
  for (Finding& finding : diagnose(report, std::move(findings))) report.findings.push_back(std::move(finding));
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  return report;
}

}  // namespace msprobe::engine
