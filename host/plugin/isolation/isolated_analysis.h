/// Runs an analyzer in worker processes: a crash, a hang or a memory hog costs one row, and the other rows are kept.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "dump/dump.h"
#include "engine/analysis.h"
#include "plugin/description.h"
#include "plugin/isolation/nursery.h"
#include "plugin/plugin_analysis.h"

namespace msprobe::plugin {

class BadMessage;
class MessageReader;

struct IsolationLimits {
  int milliseconds_per_pair = 60'000;                   ///< --plugin-timeout
  std::uint64_t memory_bytes = std::uint64_t{4} << 30;  ///< --plugin-memory, beyond what the host has; 0: no limit
  unsigned most_crashes = 5;  ///< after so many lost workers the rest of the rows is not analysed
};

class IsolatedAnalysis final : public engine::Analysis {
 public:
  /// Nothing of the library is loaded in this process.
  IsolatedAnalysis(std::string library, AnalyzerDescription analyzer, OptionValues options, IsolationLimits limits,
                   dump::Options dump_options);
  ~IsolatedAnalysis() override;

  std::string mode() const override { return analyzer_.name; }
  bool accepts(dump::Kind kind) const override { return (analyzer_.accepts >> static_cast<unsigned>(kind) & 1u) != 0; }
  bool parallel() const override { return analyzer_.parallel; }
  std::vector<result::Column> columns() const override;
  void begin(const std::vector<engine::Planned>& plan, const std::vector<result::Row>& rows) override;
  void analyze(engine::Worker& worker, const engine::Planned& planned, result::Row& row) override;
  void finish(std::vector<result::Row>& rows, std::vector<result::Finding>& findings) override;

 private:
  struct Process;
  Process& process_for(unsigned slot);
  std::string lost(unsigned slot, bool kill);
  std::string time_limit() const;
  void get_news(Process& process, MessageReader& in);
  void get_row(engine::Worker& worker, Process& process, MessageReader& in, result::Row& row);
  void finish_plugin(std::vector<result::Row>& rows, std::vector<result::Finding>& findings);
  Error senseless(unsigned slot, const BadMessage& bad, const std::string& where);

  const std::string library_;
  AnalyzerDescription analyzer_;
  const OptionValues options_;
  const IsolationLimits limits_;
  const dump::Options dump_options_;
  std::unique_ptr<Nursery> nursery_;
  mutable std::mutex mutex_;  // guards what follows
  std::vector<result::Column> columns_;
  std::set<std::string> complaints_;
  std::map<unsigned, std::unique_ptr<Process>> processes_;  ///< by worker number
  unsigned crashes_ = 0;
};

}  // namespace msprobe::plugin
