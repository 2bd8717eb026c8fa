#include "plugin/isolation/worker_process.h"

#include <cstring>

#include "engine/pool.h"
#include "engine/worker.h"
#include "plugin/isolation/child.h"
#include "plugin/isolation/row_message.h"
#include "plugin/library.h"

namespace msprobe::plugin {
namespace {

const msp_analyzer& find_analyzer(const Library& library, const std::string& name) {
  for (const msp_analyzer* analyzer : library.analyzers())
    if (analyzer->name == name) return *analyzer;
  throw Error("E5005", "the library no longer has the analyzer '" + name + "'", library.path, "register it again");
}

/// One thread that lives as long as the process.
struct Session {
  explicit Session(const dump::Options& options)
      : pool(1), shared{.pool = pool, .dump_options = options, .cancelled = [] { return false; }, .workers = {}} {
    shared.workers.push_back(std::make_unique<engine::Worker>(shared, 0));
  }
  engine::Pool pool;
  engine::Shared shared;
};

std::string analyze(Session& session, PluginAnalysis& analysis, const WorkerJob& job, std::uint64_t index,
                    std::size_t& columns_sent) {
  MessageWriter out;
  result::Row row = job.rows.at(index);
  const std::uint64_t before[2] = {session.shared.bytes_read[0], session.shared.bytes_read[1]};
  try {
    analysis.analyze(*session.shared.workers[0], job.plan.at(index), row);
    out.put(static_cast<std::uint8_t>(Reply::done));
    const auto columns = analysis.columns();
    put_columns(out, columns, columns_sent);
    columns_sent = columns.size();
    for (int side = 0; side < 2; ++side) out.put<std::uint64_t>(session.shared.bytes_read[side] - before[side]);
    put_judgement(out, row);
  } catch (const Error& error) {
    out.put(static_cast<std::uint8_t>(Reply::failed));
    put_error(out, error);
  } catch (const engine::Cancelled&) {
    out.put(static_cast<std::uint8_t>(Reply::cancelled));
  }
  return out.data();
}

/// The rows come from the host: this process has seen a part of them only.
std::string finish(PluginAnalysis& analysis, const WorkerJob& job, MessageReader& in) {
  std::vector<result::Row> rows = job.rows;
  for (auto& row : rows) get_judgement(in, row);
  MessageWriter out;
  try {
    std::vector<result::Finding> findings;
    const std::vector<result::Row> before = rows;
    analysis.finish(rows, findings);
    out.put(static_cast<std::uint8_t>(Reply::done));
    std::vector<std::size_t> amended;
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (rows[i].verdict != before[i].verdict || rows[i].why != before[i].why) amended.push_back(i);
    out.put<std::uint64_t>(amended.size());
    for (const std::size_t i : amended)
      out.put<std::uint64_t>(i).put(static_cast<std::uint8_t>(rows[i].verdict)).put(std::string_view(rows[i].why));
    out.put<std::uint64_t>(findings.size());
    for (const auto& finding : findings) {
      out.put(static_cast<std::uint8_t>(finding.level))
          .put(std::string_view(finding.code))
          .put(std::string_view(finding.text));
      out.put<std::uint64_t>(finding.rows.size());
      for (const auto row : finding.rows) out.put(row);
    }
  } catch (const Error& error) {
    out = MessageWriter();
    out.put(static_cast<std::uint8_t>(Reply::failed));
    put_error(out, error);
  }
  return out.data();
}

}  // namespace

void run_worker_process(int socket, const WorkerJob& job) {
  restrict_child(job.memory_bytes);
  Session session(job.dump_options);
  std::unique_ptr<PluginAnalysis> analysis;
  MessageWriter hello;
  try {
    analysis = std::make_unique<PluginAnalysis>(find_analyzer(load(job.library), job.analyzer), job.options);
    analysis->begin(job.plan, job.rows);
    hello.put(static_cast<std::uint8_t>(Reply::done));
    put_columns(hello, analysis->columns(), 0);
  } catch (const Error& error) {
    hello.put(static_cast<std::uint8_t>(Reply::failed));
    put_error(hello, error);
  }
  std::size_t columns_sent = analysis ? analysis->columns().size() : 0;
  if (!send_message(socket, hello.data()) || !analysis) return;
  std::string data;
  while (receive_message(socket, data, -1) == Received::whole) {
    MessageReader in(data);
    const auto request = static_cast<Request>(in.get<std::uint8_t>());
    const std::string reply = request == Request::finish
                                  ? finish(*analysis, job, in)
                                  : analyze(session, *analysis, job, in.get<std::uint64_t>(), columns_sent);
    if (!send_message(socket, reply)) return;
  }
}

}  // namespace msprobe::plugin
