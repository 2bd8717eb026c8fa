#include "plugin/conformance/suite.h"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "base/log.h"
#include "plugin/conformance/outcome.h"
#include "plugin/conformance/pairs.h"
#include "plugin/isolation/child.h"
#include "plugin/isolation/isolated_analysis.h"
#include "plugin/library.h"

namespace msprobe::plugin {
namespace {

constexpr int patience_ms = 120'000;
constexpr unsigned many = 8;

bool never() {
  return false;
}

/// Runs `body` in a process of its own and returns the message that it wrote. Throws Error E5010 or E5011.
std::string in_child(const std::string& where, const std::function<void(MessageWriter&)>& body) {
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    throw Error("E5012", "no socket for a process", where, "raise the limit of open files (ulimit -n)");
  const pid_t parent = ::getpid(), child = ::fork();
  if (child == 0) {
    ::close(sockets[0]);
    restrict_child(parent, 0);
    MessageWriter out;
    try {
      body(out);
      send_message(sockets[1], out.data());
    } catch (const std::exception& error) {
      send_message(sockets[1], "!" + std::string(error.what()));
    }
    ::_exit(0);
  }
  ::close(sockets[1]);
  std::string data;
  const Received received = child < 0 ? Received::ended : receive_message(sockets[0], data, patience_ms);
  ::close(sockets[0]);
  if (child < 0) throw Error("E5012", "no process", where, "raise the limit of processes (ulimit -u)");
  const int status = received == Received::ended || received == Received::whole ? reap_child(child) : end_child(child);
  if (received == Received::timed_out)
    throw Error("E5011", fmt::format("it did not end within {} s", patience_ms / 1000), where, "make it faster");
  if (received != Received::whole) throw Error("E5010", fmt::format("it {}", ending_text(status)), where, "mend it");
  if (data.starts_with('!')) throw std::runtime_error(data.substr(1));
  return data;
}

/// Some value for each option, also for those without a default.
OptionValues some_options(const AnalyzerDescription& analyzer) {
  OptionValues values = default_options(analyzer);
  for (const auto& option : analyzer.options)
    if (option.required) values[option.name] = parse_option(option, "1");
  return values;
}

std::string first_of(const std::vector<std::string>& lines) {
  return lines.empty()
             ? ""
             : fmt::format("{}{}", lines[0], lines.size() > 1 ? fmt::format(" (and {} more)", lines.size() - 1) : "");
}

std::string difference(const std::vector<std::string>& expected, const std::vector<std::string>& got,
                       const char* what) {
  if (expected.size() != got.size()) return fmt::format("{} {} instead of {}", got.size(), what, expected.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    if (got[i] != expected[i]) return fmt::format("first '{}', now '{}'", expected[i], got[i]);
  return "";
}

std::string difference(const Outcome& expected, const Outcome& got) {
  const std::string rows = difference(expected.rows, got.rows, "rows");
  return rows.empty() ? difference(expected.findings, got.findings, "findings") : rows;
}

std::size_t thread_count() {
  const std::filesystem::directory_iterator threads("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(threads), end(threads)));
}

class Suite {
 public:
  Suite(const PluginDescription& plugin, const AnalyzerDescription& analyzer, const dump::Dump& reference,
        const dump::Dump& target, const std::function<void(const Check&)>& tell)
      : plugin_(plugin), analyzer_(analyzer), reference_(reference), target_(target), tell_(tell) {}

  void run() {
    bool started = false;
    Outcome first;
    check("starts, and judges every dtype, 0-d, empty, NaN and infinity without a failure", [&] {
      first = isolated(1);
      started = true;
      return first_of(first.failed);
    });
    if (!started) return;  // the rest would say the same
    check("values have the types of their columns", [&] { return first_of(first.mistyped); });
    check("the same rows again", [&] { return difference(first, isolated(1)); });
    check(fmt::format("the same rows with {} processes", many), [&] { return difference(first, isolated(many)); });
    Outcome threads;
    check(fmt::format("the same rows with {} threads", many), [&] {
      const std::string data =
          in_child(plugin_.path, [&](MessageWriter& out) { put_outcome(out, in_threads(many, never)); });
      MessageReader in(data);
      threads = get_outcome(in);
      return difference(first, threads);
    });
    check("uses the host as it should", [&] { return first_of(threads.complaints); });
    check("can be cancelled at any step", [&] { return cancelled_outcome(first); });
    check("gives memory and threads back", [&] { return what_stays(); });
  }

 private:
  template <class Body>
  void check(const std::string& name, const Body& body) {
    Check result{fmt::format("{}: {}", analyzer_.name, name), ""};
    try {
      result.problem = body();
    } catch (const std::exception& error) {
      result.problem = error.what();
    }
    tell_(result);
  }

  Outcome isolated(unsigned jobs) const {
    IsolationLimits limits;
    limits.milliseconds_per_pair = 10'000;
    IsolatedAnalysis analysis(plugin_.path, analyzer_, some_options(analyzer_), limits, {});
    return run_over(reference_, target_, analysis, jobs, never);
  }

  /// In this process: only in a child.
  Outcome in_threads(unsigned jobs, const std::function<bool()>& cancelled) const {
    const Library library = load(plugin_.path);
    const auto analyzers = library.analyzers();
    const auto found = std::find_if(analyzers.begin(), analyzers.end(),
                                    [&](const msp_analyzer* a) { return a->name == analyzer_.name; });
    if (found == analyzers.end()) throw Error("E5005", "the analyzer is gone", plugin_.path, "check again");
    std::vector<std::string> complaints;
    std::mutex mutex;
    Outcome outcome;
    {
      PluginAnalysis analysis(**found, some_options(analyzer_));
      analysis.on_complaint = [&](const std::string& text) {
        const std::lock_guard lock(mutex);
        complaints.push_back(text);
      };
      outcome = run_over(reference_, target_, analysis, jobs, cancelled);
    }
    outcome.complaints = std::move(complaints);
    return outcome;
  }

  /// The run is cancelled when it has looked so often whether it is: rows are whole or not there.
  std::string cancelled_outcome(const Outcome& whole) const {
    const std::string data = in_child(plugin_.path, [&](MessageWriter& out) {
      std::string problem;
      for (std::uint64_t looks = 0; looks < 3000 && problem.empty(); looks = looks * 2 + 1) {
        std::atomic<std::uint64_t> looked = 0;
        const Outcome outcome = in_threads(looks % 2 ? 1 : 4, [&] { return looked++ >= looks; });
        for (std::size_t i = 0; i < outcome.rows.size(); ++i) {
          const bool interrupted = outcome.rows[i].find("'not compared: interrupted'") != std::string::npos;
          if (!interrupted && !analyzer_.has_finish && outcome.rows[i] != whole.rows[i])
            problem =
                fmt::format("cancelled after {} looks: '{}' instead of '{}'", looks, outcome.rows[i], whole.rows[i]);
        }
        if (!outcome.failed.empty() && whole.failed.empty()) problem = first_of(outcome.failed);
      }
      out.put(std::string_view(problem));
    });
    return MessageReader(data).text();
  }

  std::string what_stays() const {
    const std::string data = in_child(plugin_.path, [&](MessageWriter& out) {
      constexpr int settling = 3, cycles = 4;  // caches fill in the first runs
      constexpr std::size_t noise = 512;       // of the host itself, which keeps a handle for each load
      // A thread of its own each time: its end gives the allocator's cache back, which counts as memory in use.
      const auto run_once = [&] { std::thread([&] { in_threads(1, never); }).join(); };
      for (int i = 0; i < settling; ++i) run_once();
      const std::size_t threads = thread_count(), before = ::mallinfo2().uordblks;
      for (int i = 0; i < cycles; ++i) run_once();
      const std::size_t after = ::mallinfo2().uordblks;
      std::string problem;
      if (thread_count() > threads)
        problem = fmt::format("{} threads more after {} runs", thread_count() - threads, cycles);
      else if (after > before + noise * cycles)
        problem = fmt::format("{} bytes more after {} runs", after - before, cycles);
      out.put(std::string_view(problem));
    });
    return MessageReader(data).text();
  }

  const PluginDescription& plugin_;
  const AnalyzerDescription& analyzer_;
  const dump::Dump& reference_;
  const dump::Dump& target_;
  const std::function<void(const Check&)>& tell_;
};

}  // namespace

void check_plugin(const std::string& path, const std::function<void(const Check&)>& tell) {
  if (!std::filesystem::exists(path))
    throw Error("E1003", "there is no such file", path, "give the path of a library (.so)");
  PluginDescription plugin;
  try {
    plugin = probe(path);
  } catch (const Error& error) {
    tell({"loads", error.what()});
    return;
  }
  tell({"loads", ""});
  log::set_level(log::Level::error);  // what a plugin does wrong is a check of its own
  const GeneratedPairs pairs;
  const dump::Dump reference = dump::open(pairs.reference(), {}), target = dump::open(pairs.target(), {});
  for (const AnalyzerDescription& analyzer : plugin.analyzers) Suite(plugin, analyzer, reference, target, tell).run();
}

}  // namespace msprobe::plugin
