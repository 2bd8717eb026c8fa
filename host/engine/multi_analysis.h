/// Several analyzers over the same pairs, as one. The first keeps its column names, those of the others are
/// "analyzer.column"; a row's verdict is the worst.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/analysis.h"

namespace msprobe::engine {

class MultiAnalysis final : public Analysis {
 public:
  struct Part {
    std::string name;  ///< what -m said
    std::unique_ptr<Analysis> analysis;
  };
  /// At least two parts, of different names.
  explicit MultiAnalysis(std::vector<Part> parts);

  std::string mode() const override;
  bool accepts(dump::Kind kind) const override;
  bool parallel() const override { return true; }  ///< a serial part is locked here
  std::vector<result::Column> columns() const override;
  void begin(const std::vector<Planned>& plan, const std::vector<result::Row>& rows) override;
  void analyze(Worker& worker, const Planned& planned, result::Row& row) override;
  void finish(std::vector<result::Row>& rows, std::vector<result::Finding>& findings) override;

 private:
  std::vector<std::uint32_t> places(std::size_t part) const;
  void merge(std::size_t part, result::Row&& judged, result::Row& row) const;

  std::vector<Part> parts_;
  std::vector<std::mutex> serial_;
  mutable std::mutex mutex_;  // guards what follows
  mutable std::vector<result::Column> columns_;
  mutable std::vector<std::vector<std::uint32_t>> places_;  ///< by part: where its columns stand in columns_
};

}  // namespace msprobe::engine
