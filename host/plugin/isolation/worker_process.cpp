#include "plugin/isolation/worker_process.h"

#include <cstring>
#include <mutex>

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

/// The plugin in this process, and what the host does not know of it yet.
class Worker {
 public:
  explicit Worker(const WorkerJob& job) : job_(job), session_(job.dump_options) {}

  /// Loads, creates, begins. False when it failed; the message says why.
  bool start(MessageWriter& out) {
    try {
      analysis_ = std::make_unique<PluginAnalysis>(find_analyzer(load(job_.library), job_.analyzer), job_.options);
      analysis_->on_complaint = [this](const std::string& text) {
        const std::lock_guard lock(mutex_);
        complaints_.push_back(text);
      };
      analysis_->begin(job_.plan, job_.rows);
    } catch (const Error& error) {
      analysis_.reset();
      put_kind(out, Reply::failed);
      put_error(out, error);
      return false;
    }
    put_kind(out, Reply::done);
    put_news(out);
    return true;
  }

  /// A row that fails may have emitted values before: they are sent with its error.
  void analyze(std::uint64_t index, MessageWriter& out) {
    result::Row row = job_.rows.at(index);
    const std::uint64_t before[2] = {session_.shared.bytes_read[0], session_.shared.bytes_read[1]};
    Reply kind = Reply::done;
    std::optional<Error> failed;
    try {
      analysis_->analyze(*session_.shared.workers[0], job_.plan.at(index), row);
    } catch (const Error& error) {
      kind = Reply::failed;
      failed = error;
    } catch (const engine::Cancelled&) {
      kind = Reply::cancelled;
    }
    put_kind(out, kind);
    put_news(out);
    for (int side = 0; side < 2; ++side) out.put<std::uint64_t>(session_.shared.bytes_read[side] - before[side]);
    put_judgement(out, row);
    if (failed) put_error(out, *failed);
  }

  /// Columns and rows come from the host: this process has seen a part of them only.
  void finish(MessageReader& in, MessageWriter& out) {
    std::vector<std::uint32_t> here;
    for (auto left = in.count(); left > 0; --left) here.push_back(analysis_->column_number(get_column(in)));
    std::vector<result::Row> rows = job_.rows;
    for (auto& row : rows) {
      get_judgement(in, row);
      const auto metrics = std::exchange(row.metrics, {});
      row.metrics.resize(metrics.empty() ? 0 : analysis_->columns().size());
      for (std::size_t i = 0; i < metrics.size(); ++i) row.metrics[here[i]] = metrics[i];
    }
    std::vector<result::Finding> findings;
    const std::vector<result::Row> before = rows;
    try {
      analysis_->finish(rows, findings);
    } catch (const Error& error) {
      put_kind(out, Reply::failed);
      put_error(out, error);
      return;
    }
    put_kind(out, Reply::done);
    columns_sent_ = 0;  // their order may be another now
    put_news(out);
    put_amended(out, before, rows);
    put_findings(out, findings);
  }

 private:
  static void put_kind(MessageWriter& out, Reply kind) { out.put(static_cast<std::uint8_t>(kind)); }

  /// Columns and complaints since the last message.
  void put_news(MessageWriter& out) {
    const auto columns = analysis_->columns();
    put_columns(out, columns, columns_sent_);
    columns_sent_ = columns.size();
    const std::lock_guard lock(mutex_);
    out.put<std::uint64_t>(complaints_.size());
    for (const std::string& complaint : complaints_) out.put(std::string_view(complaint));
    complaints_.clear();
  }

  const WorkerJob& job_;
  Session session_;
  std::mutex mutex_;
  std::vector<std::string> complaints_;  ///< guarded by mutex_: threads of the plugin may be what is complained of
  std::unique_ptr<PluginAnalysis> analysis_;
  std::size_t columns_sent_ = 0;
};

}  // namespace

void run_worker_process(int socket, const WorkerJob& job) {
  limit_memory(job.memory_bytes);
  Worker worker(job);
  MessageWriter hello;
  const bool started = worker.start(hello);
  if (!send_message(socket, hello.data()) || !started) return;
  std::string data;
  while (receive_message(socket, data, -1) == Received::whole) {
    MessageReader in(data);
    MessageWriter reply;
    if (static_cast<Request>(in.get<std::uint8_t>()) == Request::finish)
      worker.finish(in, reply);
    else
      worker.analyze(in.get<std::uint64_t>(), reply);
    if (!send_message(socket, reply.data())) return;
  }
}

}  // namespace msprobe::plugin
