#include "plugin/isolation/isolated_analysis.h"

#include <fmt/format.h>
#include <unistd.h>

#include "engine/worker.h"
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
  for (auto& [slot, process] : processes_) {
    ::close(process->child.socket);  // asks it to go
    nursery_->end(process->child.process, false);
  }
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
  auto process = std::make_unique<Process>();
  process->child = nursery_->spawn();
  std::string data;
  const Received received = receive_message(process->child.socket, data, limits_.milliseconds_per_pair);
  const auto give_up = [&](bool kill) {
    ::close(process->child.socket);
    return nursery_->end(process->child.process, kill);
  };
  if (received == Received::timed_out) {
    give_up(true);
    throw Error("E5011", fmt::format("the analyzer did not start within {} s", limits_.milliseconds_per_pair / 1000),
                library_, "raise --plugin-timeout, or tell its author");
  }
  if (received != Received::whole)
    throw Error("E5010", fmt::format("the analyzer {} at its start", ending_text(give_up(false))), library_,
                "tell its author");
  MessageReader in(data);
  if (static_cast<Reply>(in.get<std::uint8_t>()) == Reply::failed) {
    const Error error = get_error(in);
    give_up(false);
    throw Error(error);
  }
  const std::lock_guard lock(mutex_);
  auto& kept = *(processes_[slot] = std::move(process));
  map_columns(kept, in);
  return kept;
}

void IsolatedAnalysis::map_columns(Process& process, MessageReader& in) {
  for (auto left = in.count(); left > 0; --left) {
    result::Column column = get_column(in);
    std::uint32_t place = 0;
    while (place < columns_.size() && columns_[place].name != column.name) ++place;
    if (place == columns_.size()) columns_.push_back(std::move(column));
    process.columns.push_back(place);
  }
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
    throw Error("E5011",
                fmt::format("{} did not answer within {} s", analyzer_.name, limits_.milliseconds_per_pair / 1000),
                row.name, "raise --plugin-timeout, or tell its author");
  }
  if (received != Received::whole)
    throw Error("E5010", fmt::format("{} {} here", analyzer_.name, lost(slot, false)), row.name,
                "tell its author; the other rows are kept");

  MessageReader in(data);
  switch (static_cast<Reply>(in.get<std::uint8_t>())) {
    case Reply::failed:
      throw Error(get_error(in));
    case Reply::cancelled:
      throw engine::Cancelled{};
    default:
      break;
  }
  {
    const std::lock_guard lock(mutex_);
    map_columns(process, in);
  }
  for (const int side : {0, 1}) worker.count_read(side, in.get<std::uint64_t>());
  result::Row judged;
  get_judgement(in, judged);
  row.verdict = judged.verdict;
  row.error = judged.error;
  row.threshold = judged.threshold;
  row.why = std::move(judged.why);
  row.threshold_from = std::move(judged.threshold_from);
  row.metrics.clear();
  for (std::size_t i = 0; i < judged.metrics.size() && i < process.columns.size(); ++i) {
    const std::uint32_t place = process.columns[i];
    if (row.metrics.size() <= place) row.metrics.resize(place + 1);
    row.metrics[place] = std::move(judged.metrics[i]);
  }
}

void IsolatedAnalysis::finish(std::vector<result::Row>& rows, std::vector<result::Finding>& findings) {
  if (!analyzer_.has_finish) return;
  Process& process = process_for(0);
  // Rows as that process numbers columns.
  std::vector<std::uint32_t> place_there(columns_.size(), UINT32_MAX);
  for (std::uint32_t i = 0; i < process.columns.size(); ++i) place_there[process.columns[i]] = i;
  MessageWriter request;
  request.put(static_cast<std::uint8_t>(Request::finish));
  for (const auto& row : rows) {
    result::Row there;
    there.verdict = row.verdict;
    there.error = row.error;
    there.threshold = row.threshold;
    there.why = row.why;
    for (std::size_t i = 0; i < row.metrics.size(); ++i) {
      if (place_there[i] == UINT32_MAX) continue;
      if (there.metrics.size() <= place_there[i]) there.metrics.resize(place_there[i] + 1);
      there.metrics[place_there[i]] = row.metrics[i];
    }
    put_judgement(request, there);
  }
  std::string data;
  Received received = Received::ended;
  if (send_message(process.child.socket, request.data()))
    received = receive_message(process.child.socket, data, limits_.milliseconds_per_pair);
  if (received != Received::whole) {
    const std::string how =
        received == Received::timed_out ? (lost(0, true), "did not answer in time") : lost(0, false);
    findings.push_back(
        {result::Verdict::warn,
         "analyzer.lost",
         fmt::format("{} {} at its end: its summary is missing, the rows are kept.", analyzer_.name, how),
         fmt::format("{} 在收尾时异常（{}）：缺少其总结，各行结果保留。", analyzer_.name, how),
         {}});
    return;
  }
  MessageReader in(data);
  if (static_cast<Reply>(in.get<std::uint8_t>()) == Reply::failed) throw Error(get_error(in));
  for (auto left = in.count(); left > 0; --left) {
    auto& row = rows.at(in.get<std::uint64_t>());
    row.verdict = static_cast<result::Verdict>(in.get<std::uint8_t>());
    row.why = in.text();
  }
  for (auto left = in.count(); left > 0; --left) {
    result::Finding finding;
    finding.level = static_cast<result::Verdict>(in.get<std::uint8_t>());
    finding.code = in.text();
    finding.text = in.text();
    finding.rows.resize(in.count());
    for (auto& row : finding.rows) row = in.get<std::uint64_t>();
    findings.push_back(std::move(finding));
  }
}

}  // namespace msprobe::plugin
