#include "plugin/plugin_analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/log.h"
#include "msprobe/dtype.hpp"
#include "plugin/added_columns.h"
#include "plugin/call.h"
#include "plugin/process_state.h"

namespace msprobe::plugin {
namespace {

constexpr unsigned serial_token = 0xffffffff;  ///< create, begin and finish have no worker

[[noreturn]] void throw_broken(const msp_analyzer& analyzer, const char* callback, const msp_call& call) {
  if (call.error) throw *call.error;
  throw Error("E5008",
              fmt::format("{} of the analyzer failed: {}", callback, call.why.empty() ? "it gave no reason" : call.why),
              analyzer.name, "check its options, or tell its author");
}

/// Where an analyzer's own threshold comes from: the dtypes that the host told it.
std::string auto_text(const engine::Planned& planned) {
  const bool floats = is_float(planned.side[0]->dtype) || is_float(planned.side[1]->dtype);
  return floats ? fmt::format("auto: {}", dtype_name(planned.noise_dtype)) : "auto: exact";
}

}  // namespace

/// Runs a callback; nothing that it throws goes further, and what it changed in the process is put back.
template <class Body>
msp_status PluginAnalysis::guarded(msp_call& call, Body&& body) {
  msp_status status;
  const ProcessState before;
  try {
    status = body();
  } catch (const std::bad_alloc&) {
    call.why = "out of memory (the limit of a worker process is --plugin-memory)";
    status = MSP_E_NOMEM;
  } catch (const std::exception& error) {
    call.why = fmt::format("an exception left the plugin: {}", error.what());
    status = MSP_E_INTERNAL;
  } catch (...) {
    call.why = "an exception left the plugin";
    status = MSP_E_INTERNAL;
  }
  if (const std::string changed = before.put_back(); !changed.empty())
    complain(fmt::format("changed {} of the process; it was put back", changed));
  return status < 0 ? status : MSP_OK;
}

result::Value parse_option(const OptionDescription& option, const std::string& text) {
  const auto bad = [&](const char* wanted) {
    return Error("E6002", fmt::format("'{}' is not {}", text, wanted), fmt::format("--{}", option.name),
                 option.doc.empty() ? "give another value" : option.doc);
  };
  if (text.empty()) return {};
  const char* end = text.data() + text.size();
  switch (option.type) {
    case MSP_TYPE_F64: {
      double number = 0;
      const auto parsed = std::from_chars(text.data(), end, number);
      if (parsed.ec != std::errc() || parsed.ptr != end) throw bad("a number");
      return number;
    }
    case MSP_TYPE_I64: {
      std::int64_t number = 0;
      const auto parsed = std::from_chars(text.data(), end, number);
      if (parsed.ec != std::errc() || parsed.ptr != end) throw bad("a whole number");
      return number;
    }
    case MSP_TYPE_BOOL:
      if (text == "1" || text == "true" || text == "yes" || text == "on") return true;
      if (text == "0" || text == "false" || text == "no" || text == "off") return false;
      throw bad("true or false");
    default:
      return text;
  }
}

OptionValues default_options(const AnalyzerDescription& analyzer) {
  OptionValues values;
  for (const OptionDescription& option : analyzer.options) values[option.name] = parse_option(option, option.initial);
  return values;
}

PluginAnalysis::PluginAnalysis(const msp_analyzer& analyzer, OptionValues options, const msp_host* host)
    : analyzer_(analyzer), options_(std::move(options)), host_(make_host_table()) {
  columns_ = describe(analyzer).columns;
  for (const auto& column : columns_) declared_types_.push_back(column.type);

  msp_call& call = token(serial_token);
  call.enter(nullptr, nullptr);
  const msp_status status = guarded(call, [&] { return analyzer_.create(host ? host : &host_, &call, &self_); });
  // What an analyzer does not want to be given is a value of its options: the user's matter.
  if (status == MSP_E_INVALID && !call.why.empty())
    throw Error("E6002", call.why, analyzer_.name, "see `msprobe compare --help`");
  if (status != MSP_OK) throw_broken(analyzer_, "create", call);
  call.leave();
  created_ = true;
}

PluginAnalysis::~PluginAnalysis() {
  if (created_) analyzer_.destroy(self_);
}

std::vector<result::Column> PluginAnalysis::columns() const {
  const std::lock_guard lock(mutex_);
  return columns_;
}

std::uint32_t PluginAnalysis::column_number(const result::Column& column) {
  const std::lock_guard lock(mutex_);
  const auto known =
      std::find_if(columns_.begin(), columns_.end(), [&](const result::Column& c) { return c.name == column.name; });
  if (known != columns_.end()) return static_cast<std::uint32_t>(known - columns_.begin());
  columns_.push_back(column);
  return static_cast<std::uint32_t>(columns_.size() - 1);
}

void PluginAnalysis::complain(const std::string& what) {
  {
    const std::lock_guard lock(mutex_);
    if (!complaints_.insert(what).second) return;
  }
  const std::string text = fmt::format("{} {}", analyzer_.name, what);
  if (on_complaint)
    on_complaint(text);
  else
    log::warning(text + ": tell its author");
}

msp_call& PluginAnalysis::token(unsigned worker) {
  const std::lock_guard lock(mutex_);
  auto& token = tokens_[worker];
  if (!token) token = std::make_unique<msp_call>(*this);
  return *token;
}

void PluginAnalysis::begin(const std::vector<engine::Planned>& plan, const std::vector<result::Row>&) {
  plan_ = &plan;
  msp_call& call = token(serial_token);
  call.enter(nullptr, nullptr);
  if (analyzer_.begin && guarded(call, [&] { return analyzer_.begin(self_, &call, plan.size()); }) != MSP_OK)
    throw_broken(analyzer_, "begin", call);
  call.leave();
}

void PluginAnalysis::analyze(engine::Worker& worker, const engine::Planned& planned, result::Row& row) {
  msp_call& call = token(worker.number());
  call.enter(&worker, &row);
  row.verdict = result::Verdict::pass;  // an analyzer that only reports numbers has nothing to object
  row.why.clear();
  if (!std::isnan(planned.threshold)) row.threshold_from = planned.threshold_source;
  const msp_pair* pair = call.facts_of(planned);
  const msp_status status = guarded(call, [&] { return analyzer_.analyze_pair(self_, &call, pair); });
  const auto error = std::move(call.error);
  const bool cancelled = call.cancelled;
  const std::string why = std::move(call.why);
  call.leave();
  if (status == MSP_OK) {
    if (row.threshold && std::isnan(planned.threshold)) row.threshold_from = auto_text(planned);
    return;
  }
  row.verdict = result::Verdict::skip;
  if (cancelled || status == MSP_E_CANCELLED) throw engine::Cancelled{};
  if (error) throw Error(*error);
  if (status == MSP_E_UNSUPPORTED && why.empty())
    throw Error("E4009",
                fmt::format("{} does not handle {} beside {}", analyzer_.name, dtype_name(planned.side[0]->dtype),
                            dtype_name(planned.side[1]->dtype)),
                row.name, "convert one side, or leave the tensor out");
  throw Error("E5008",
              fmt::format("{} failed here: {}", analyzer_.name,
                          why.empty() ? fmt::format("status {} without a reason", status) : why),
              row.name, "tell the analyzer's author");
}

void PluginAnalysis::finish(std::vector<result::Row>& rows, std::vector<result::Finding>& findings) {
  const std::size_t known = columns().size();
  if (analyzer_.finish) finish_plugin(rows, findings);
  sort_added_columns(columns_, declared_types_.size(), known, rows);
}

void PluginAnalysis::finish_plugin(std::vector<result::Row>& rows, std::vector<result::Finding>& findings) {
  rows_ = &rows;
  findings_ = &findings;
  msp_call& call = token(serial_token);
  call.enter(nullptr, nullptr);
  const msp_status status = guarded(call, [&] { return analyzer_.finish(self_, &call); });
  rows_ = nullptr;
  findings_ = nullptr;
  if (status != MSP_OK) throw_broken(analyzer_, "finish", call);
  call.leave();
}

}  // namespace msprobe::plugin
