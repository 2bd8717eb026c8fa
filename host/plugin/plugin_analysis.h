/// The host's half of the ABI: runs an analyzer of a plugin as an engine::Analysis.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "engine/analysis.h"
#include "msprobe/analyzer.h"
#include "plugin/description.h"

namespace msprobe::plugin {

using OptionValues = std::map<std::string, result::Value>;

/// Reads the text of an option by its declared type; throws Error E6002. An empty text is "not given" (null).
result::Value parse_option(const OptionDescription& option, const std::string& text);

/// The defaults of an analyzer's options. Throws Error E6002 for a default that its own type cannot read.
OptionValues default_options(const AnalyzerDescription& analyzer);

class PluginAnalysis final : public engine::Analysis {
 public:
  /// Creates the instance. `options` holds a value for each declared option. Throws Error E6002 for a value that the
  /// analyzer refuses, E5008 when it fails otherwise.
  /// `host`: lent instead of today's table, by a test that plays an older host.
  PluginAnalysis(const msp_analyzer& analyzer, OptionValues options, const msp_host* host = nullptr);
  ~PluginAnalysis() override;

  std::string mode() const override { return analyzer_.name; }
  bool accepts(dump::Kind kind) const override { return (analyzer_.accepts >> static_cast<unsigned>(kind) & 1u) != 0; }
  bool parallel() const override { return analyzer_.threading == MSP_PARALLEL; }
  std::vector<result::Column> columns() const override;
  void begin(const std::vector<engine::Planned>& plan, const std::vector<result::Row>& rows) override;
  void analyze(engine::Worker& worker, const engine::Planned& planned, result::Row& row) override;
  void finish(std::vector<result::Row>& rows, std::vector<result::Finding>& findings) override;

  /// The number of a column, which is added when no column has its name.
  std::uint32_t column_number(const result::Column& column);

  /// What the plugin does wrong without any harm to a row; each is told once, "NAME emits column 7, ...".
  void complain(const std::string& what);
  /// Instead of a warning at once: worker processes pass complaints on.
  std::function<void(const std::string&)> on_complaint;

 private:
  friend struct ::msp_call;
  friend struct HostTable;
  msp_call& token(unsigned worker);
  void finish_plugin(std::vector<result::Row>& rows, std::vector<result::Finding>& findings);
  template <class Body>
  msp_status guarded(msp_call& call, Body&& body);

  const msp_analyzer& analyzer_;
  OptionValues options_;
  std::vector<result::ColumnType> declared_types_;  ///< of the analyzer's constant columns: the first of columns_
  std::vector<result::Column> columns_;             ///< guarded by mutex_: plugins may declare more while they run
  std::set<std::string> complaints_;                ///< guarded by mutex_
  mutable std::mutex mutex_;
  std::map<unsigned, std::unique_ptr<msp_call>>
      tokens_;                            ///< by worker; never freed while the plugin lives: stale use is seen
  std::vector<engine::Planned> no_plan_;  ///< until begin
  const std::vector<engine::Planned>* plan_ = &no_plan_;
  std::vector<result::Row>* rows_ = nullptr;  ///< in finish
  std::vector<result::Finding>* findings_ = nullptr;
  msp_host host_{};
  void* self_ = nullptr;
  bool created_ = false;
};

}  // namespace msprobe::plugin
