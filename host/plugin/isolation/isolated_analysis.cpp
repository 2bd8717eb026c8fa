#include "plugin/isolation/isolated_analysis.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/log.h"
#include "engine/worker.h"
#include "plugin/added_columns.h"
#include "plugin/isolation/child.h"
#include "plugin/isolation/row_message.h"
#include "plugin/isolation/worker_process.h"

namespace msprobe::plugin {

/// A worker process and how its columns are numbered here: processes may declare more of them in another order.
struct IsolatedAnalysis::Process {
  Nursery::Child child;
  std::vector<std::uint32_t> columns;
};

namespace {

bool run_cancelled(void* worker) {
  return static_cast<engine::Worker*>(worker)->cancelled();
}

}  // namespace

IsolatedAnalysis::IsolatedAnalysis(std::string library, AnalyzerDescription analyzer, OptionValues options,
                                   IsolationLimits limits, dump::Options dump_options)
    : library_(std::move(library)),
      analyzer_(std::move(analyzer)),
      options_(std::move(options)),
      limits_(limits),
      dump_options_(std::move(dump_options)),
      columns_(analyzer_.columns) {}

IsolatedAnalysis::~IsolatedAnalysis() {
  for (auto& [slot, process] : processes_) ::close(process->child.socket);  // asks all of them to go at once
  for (auto& [slot, process] : processes_) nursery_->end(process->child.process, false);
}

std::vector<result::Column> IsolatedAnalysis::columns() const {
  const std::lock_guard lock(mutex_);
  return columns_;
}

void IsolatedAnalysis::begin(const std::vector<engine::Planned>& plan, const std::vector<result::Row>& rows) {
  // The plan stays where it is for the whole run; workers are forked with it in their memory.
  nursery_ = std::make_unique<Nursery>([this, &plan, &rows](int socket) {
    run_worker_process(socket, {library_, analyzer_.name, options_, limits_.memory_bytes, dump_options_, plan, rows});
  });
  process_for(0);  // create and begin of the plugin: what goes wrong there ends the run before it starts
}

IsolatedAnalysis::Process& IsolatedAnalysis::process_for(unsigned slot) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = processes_.find(slot); known != processes_.end()) return *known->second;
  }
  Process* process;
  {
    auto fresh = std::make_unique<Process>();
    fresh->child = nursery_->spawn();
    const std::lock_guard lock(mutex_);
    process = (processes_[slot] = std::move(fresh)).get();
  }
  std::string data;
  const Received received = receive_message(process->child.socket, data, limits_.milliseconds_per_pair);
  if (received == Received::timed_out) {
    lost(slot, true);
    throw Error("E5011", fmt::format("{} did not start within {}", analyzer_.name, time_limit()), library_,
                "raise --plugin-timeout, or tell its author");
  }
  if (received == Received::garbled) throw senseless(slot, BadMessage("it is no message"), library_);
  if (received != Received::whole)
    throw Error("E5010", fmt::format("{} {} at its start", analyzer_.name, lost(slot, false)), library_,
                "tell its author");
  try {
    MessageReader in(data);
    if (static_cast<Reply>(in.get<std::uint8_t>()) == Reply::failed) {
      const Error error = get_error(in);
      lost(slot, false);
      throw Error(error);
    }
    get_news(*process, in);
  } catch (const BadMessage& bad) {
    throw senseless(slot, bad, library_);
  }
  return *process;
}

std::string IsolatedAnalysis::time_limit() const {
  return fmt::format("{} s", limits_.milliseconds_per_pair / 1000.0);
}

/// Columns and complaints.
void IsolatedAnalysis::get_news(Process& process, MessageReader& in) {
  const std::lock_guard lock(mutex_);
  for (auto left = in.count(); left > 0; --left) {
    result::Column column = get_column(in);
    std::uint32_t place = 0;
    while (place < columns_.size() && columns_[place].name != column.name) ++place;
    if (place == columns_.size()) columns_.push_back(std::move(column));
    process.columns.push_back(place);
  }
  for (auto left = in.count(); left > 0; --left)
    if (const std::string complaint = in.text(); complaints_.insert(complaint).second)
      log::warning(complaint + ": tell its author");
}

/// A worker that wrote into its own channel cannot be trusted any more.
Error IsolatedAnalysis::senseless(unsigned slot, const BadMessage& bad, const std::string& where) {
  lost(slot, true);
  return {"E5010", fmt::format("the answer of {} makes no sense: {}", analyzer_.name, bad.what()), where,
          "tell its author"};
}

/// Takes a process out, ended; says how it ended.
std::string IsolatedAnalysis::lost(unsigned slot, bool kill) {
  std::unique_ptr<Process> process;
  {
    const std::lock_guard lock(mutex_);
    process = std::move(processes_[slot]);
    processes_.erase(slot);
    ++crashes_;
  }
  const int status = nursery_->end(process->child.process, kill);
  ::close(process->child.socket);
  return ending_text(status);
}

void IsolatedAnalysis::analyze(engine::Worker& worker, const engine::Planned& planned, result::Row& row) {
  {
    const std::lock_guard lock(mutex_);
    if (crashes_ >= limits_.most_crashes)
      throw Error("E5013",
                  fmt::format("not analysed: {} was lost {} times and is not started again", analyzer_.name, crashes_),
                  row.name, "tell its author");
  }
  const unsigned slot = analyzer_.parallel ? worker.number() : 0;
  Process& process = process_for(slot);
  MessageWriter request;
  request.put(static_cast<std::uint8_t>(Request::analyze)).put<std::uint64_t>(planned.index);
  std::string data;
  Received received = Received::ended;
  if (send_message(process.child.socket, request.data()))
    received = receive_message(process.child.socket, data, limits_.milliseconds_per_pair, run_cancelled, &worker);
  if (received == Received::cancelled) {
    lost(slot, true);
    throw engine::Cancelled{};
  }
  if (received == Received::timed_out) {
    lost(slot, true);
    throw Error("E5011", fmt::format("{} did not answer within {}", analyzer_.name, time_limit()), row.name,
                "raise --plugin-timeout, or tell its author");
  }
  if (received == Received::garbled) throw senseless(slot, BadMessage("it is no message"), row.name);
  if (received != Received::whole)
    throw Error("E5010", fmt::format("{} {} here", analyzer_.name, lost(slot, false)), row.name,
                "tell its author; the other rows are kept");

  try {
    MessageReader in(data);
    get_row(worker, process, in, row);
  } catch (const BadMessage& bad) {
    throw senseless(slot, bad, row.name);
  }
}

/// Throws what analysing the row threw over there, after all that it said of the row.
void IsolatedAnalysis::get_row(engine::Worker& worker, Process& process, MessageReader& in, result::Row& row) {
  const auto kind = static_cast<Reply>(in.get<std::uint8_t>());
  get_news(process, in);
  const std::uint64_t bytes[2] = {in.get<std::uint64_t>(), in.get<std::uint64_t>()};
  result::Row judged;
  get_judgement(in, judged);
  if (judged.metrics.size() > process.columns.size()) throw BadMessage("it has values without a column");
  std::optional<Error> failed;
  if (kind == Reply::failed) failed = get_error(in);
  if (!in.at_end()) throw BadMessage("it does not end");

  for (const int side : {0, 1}) worker.count_read(side, bytes[side]);
  row.verdict = judged.verdict;
  row.error = judged.error;
  row.threshold = judged.threshold;
  row.why = std::move(judged.why);
  row.threshold_from = std::move(judged.threshold_from);
  row.metrics.clear();
  for (std::size_t i = 0; i < judged.metrics.size(); ++i) {
    const std::uint32_t place = process.columns[i];
    if (row.metrics.size() <= place) row.metrics.resize(place + 1);
    row.metrics[place] = std::move(judged.metrics[i]);
  }
  if (failed) throw Error(*failed);
  if (kind == Reply::cancelled) throw engine::Cancelled{};
}

void IsolatedAnalysis::finish(std::vector<result::Row>& rows, std::vector<result::Finding>& findings) {
  const std::size_t known = columns().size();
  if (analyzer_.has_finish) finish_plugin(rows, findings);
  sort_added_columns(columns_, analyzer_.columns.size(), known, rows);
}

void IsolatedAnalysis::finish_plugin(std::vector<result::Row>& rows, std::vector<result::Finding>& findings) {
  const auto tell_lost = [&](const std::string& how) {
    findings.push_back(
        {result::Verdict::warn,
         "analyzer.lost",
         fmt::format("{} {} at its end: its summary is missing, the rows are kept.", analyzer_.name, how),
         fmt::format("{} 在收尾时异常（{}）：缺少其总结，各行结果保留。", analyzer_.name, how),
         {}});
  };
  Process* started;
  try {
    started = &process_for(0);
  } catch (const Error& error) {
    return tell_lost(fmt::format("could not be started again ({})", error.what_happened()));
  }
  Process& process = *started;
  MessageWriter request;
  request.put(static_cast<std::uint8_t>(Request::finish));
  put_columns(request, columns_, 0);
  for (const auto& row : rows) put_judgement(request, row);
  std::string data;
  Received received = Received::ended;
  if (send_message(process.child.socket, request.data()))
    received = receive_message(process.child.socket, data, limits_.milliseconds_per_pair);
  if (received == Received::timed_out) {
    lost(0, true);
    return tell_lost(fmt::format("did not answer within {}", time_limit()));
  }
  if (received == Received::ended) return tell_lost(lost(0, false));
  try {
    if (received == Received::garbled) throw BadMessage("it is no message");
    MessageReader in(data);
    if (static_cast<Reply>(in.get<std::uint8_t>()) == Reply::failed) throw Error(get_error(in));
    get_news(process, in);
    get_amended(in, rows);
    get_findings(in, rows.size(), findings);
  } catch (const BadMessage& bad) {
    lost(0, true);
    tell_lost(fmt::format("answered what makes no sense ({})", bad.what()));
  }
}

}  // namespace msprobe::plugin
