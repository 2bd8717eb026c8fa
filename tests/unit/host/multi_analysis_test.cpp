#include "engine/multi_analysis.h"

#include <doctest/doctest.h>

#include "engine/pool.h"
#include "engine/worker.h"

using namespace msprobe;
using result::Verdict;

namespace {

/// Says the same of every row.
class Fixed final : public engine::Analysis {
 public:
  Fixed(Verdict verdict, double error, std::string column)
      : verdict_(verdict), error_(error), column_(std::move(column)) {}
  std::string mode() const override { return "fixed"; }
  bool accepts(dump::Kind kind) const override { return kind == dump::Kind::tensor; }
  bool parallel() const override { return true; }
  std::vector<result::Column> columns() const override { return {{column_, result::ColumnType::f64, "", 1, false}}; }
  void begin(const std::vector<engine::Planned>&, const std::vector<result::Row>&) override {}
  void analyze(engine::Worker&, const engine::Planned&, result::Row& row) override {
    row.verdict = verdict_;
    row.error = error_;
    row.why = "because";
    row.metrics = {error_ * 10};
  }
  void finish(std::vector<result::Row>& rows, std::vector<result::Finding>& findings) override {
    findings.push_back({verdict_, column_, std::to_string(rows.at(0).metrics.size()), "", {}});
    if (column_ == "amends") rows.at(0).verdict = Verdict::fail;
  }

 private:
  Verdict verdict_;
  double error_;
  std::string column_;
};

struct Run {
  explicit Run(std::vector<engine::MultiAnalysis::Part> parts) : multi(std::move(parts)) {
    shared.workers.push_back(std::make_unique<engine::Worker>(shared, 0));
    multi.begin({planned}, rows);
    multi.analyze(*shared.workers[0], planned, rows[0]);
    multi.finish(rows, findings);
  }
  engine::Pool pool{1};
  dump::Options options;
  engine::Shared shared{.pool = pool, .dump_options = options, .cancelled = [] { return false; }, .workers = {}};
  engine::Planned planned{.index = 0, .side = {nullptr, nullptr}, .threshold = 0, .threshold_source = {}};
  std::vector<result::Row> rows{1};
  std::vector<result::Finding> findings;
  engine::MultiAnalysis multi;
};

std::vector<engine::MultiAnalysis::Part> two(Verdict a, Verdict b, const std::string& second_column = "x") {
  std::vector<engine::MultiAnalysis::Part> parts;
  parts.push_back({"first", std::make_unique<Fixed>(a, 0.5, "x")});
  parts.push_back({"second", std::make_unique<Fixed>(b, 0.25, second_column)});
  return parts;
}

}  // namespace

TEST_CASE("of several modes the first keeps its names, the others are prefixed, and each has its numbers") {
  const Run run(two(Verdict::pass, Verdict::warn));
  const auto columns = run.multi.columns();
  REQUIRE(columns.size() == 2);
  CHECK(columns[0].name == "x");
  CHECK(columns[1].name == "second.x");
  CHECK(std::get<double>(run.rows[0].metrics[0]) == 5);
  CHECK(std::get<double>(run.rows[0].metrics[1]) == 2.5);
  CHECK(run.multi.mode() == "first,second");
}

TEST_CASE("a row's verdict is the worst of its modes, its error that of the first") {
  const Run run(two(Verdict::pass, Verdict::fail));
  const auto& row = run.rows[0];
  CHECK(row.verdict == Verdict::fail);
  CHECK(row.error == 0.5);
  CHECK(row.why == "second: because");
  REQUIRE(row.analyzers.size() == 2);
  CHECK(row.analyzers[0].verdict == Verdict::pass);
  CHECK(row.analyzers[1].error == 0.25);
  CHECK(Run(two(Verdict::skip, Verdict::pass)).rows[0].verdict == Verdict::pass);
}

TEST_CASE("at the end each mode sees its own columns only, and may amend its own verdict") {
  const Run run(two(Verdict::pass, Verdict::pass, "amends"));
  REQUIRE(run.findings.size() == 2);
  CHECK(run.findings[0].text == "1");
  CHECK(run.findings[1].text == "1");
  CHECK(run.rows[0].analyzers[0].verdict == Verdict::pass);
  CHECK(run.rows[0].verdict == Verdict::fail);
}
