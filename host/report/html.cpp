#include <openssl/evp.h>

#include <array>
#include <ostream>
#include <sstream>

#include "report/base64.h"
#include "report/json_head.h"
#include "report/json_stream.h"
#include "report/overview.h"
#include "report/page_column.h"
#include "report/page_parts.h"
#include "report/writers.h"

namespace msprobe::report {
namespace {

using namespace result;

std::string_view to_text(Outcome outcome) {
  switch (outcome) {
    case Outcome::passed:
      return "passed";
    case Outcome::failed:
      return "failed";
    case Outcome::failed_on_warning:
      return "failed_on_warning";
    case Outcome::incomplete:
      return "incomplete";
    case Outcome::nothing_compared:
      return "nothing_compared";
  }
  return "passed";
}

/// A source for a Content-Security-Policy: only this very text may run.
std::string hash_source(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr);
  std::string source = "'sha256-";
  append_base64(source, digest.data(), size);
  return source + "'";
}

std::string script_text() {
  std::string text = "(() => {\n\"use strict\";\n";
  for (const auto part : page::scripts) text.append(part);
  return text + "})();\n";
}

std::string policy(std::string_view script) {
  return "default-src 'none'; script-src " + hash_source(script) + "; style-src " + hash_source(page::style) +
         "; img-src data:; base-uri 'none'; form-action 'none'";
}

class PageRows {
 public:
  PageRows(JsonStream& json, const std::vector<Row>& rows) : json_(json), rows_(rows) {}

  template <class Get>
  void texts(std::string_view name, Get get) {
    std::vector<std::optional<std::string_view>> values;
    values.reserve(rows_.size());
    for (const auto& row : rows_) {
      const std::string_view text = get(row);
      values.push_back(text.empty() ? std::nullopt : std::optional(text));
    }
    member(name);
    write_page_texts(json_, values);
  }
  template <class Get>
  void numbers(std::string_view name, Get get) {
    std::vector<std::optional<double>> values;
    values.reserve(rows_.size());
    for (const auto& row : rows_) values.push_back(get(row));
    member(name);
    write_page_numbers(json_, values);
  }
  void side(const std::string& prefix, std::optional<Side> Row::*which) {
    const auto of = [which](auto get) {
      return [which, get](const Row& row) -> std::string_view {
        return row.*which ? get(*(row.*which)) : std::string_view();
      };
    };
    texts(prefix + "_dtype", of([](const Side& side) -> std::string_view { return side.dtype; }));
    texts(prefix + "_checksum", of([](const Side& side) -> std::string_view { return side.checksum; }));
    texts(prefix + "_value", of([](const Side& side) -> std::string_view { return side.scalar; }));
    shapes(prefix + "_shape", which);
    constexpr std::array<const char*, MSP_STAT_COUNT> names = {"_max", "_min", "_mean", "_norm"};
    for (unsigned i = 0; i < names.size(); ++i) {
      numbers(prefix + names[i], [which, i](const Row& row) -> std::optional<double> {
        const auto& side = row.*which;
        if (!side || !(side->statistics.mask >> i & 1)) return {};
        return side->statistics.value[i];
      });
    }
  }

 private:
  void member(std::string_view name) {
    json_.new_line();
    json_.key(name);
  }
  void shapes(const std::string& name, std::optional<Side> Row::*which) {
    std::vector<std::string> texts(rows_.size());
    std::vector<std::optional<std::string_view>> values(rows_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const auto& side = rows_[i].*which;
      if (!side || !side->shape) continue;
      for (const auto extent : *side->shape) texts[i] += (texts[i].empty() ? "[" : ", ") + std::to_string(extent);
      texts[i] += texts[i].empty() ? "[]" : "]";
      values[i] = texts[i];
    }
    member(name);
    write_page_texts(json_, values);
  }

  JsonStream& json_;
  const std::vector<Row>& rows_;
};

std::optional<double> known(std::int64_t number) {
  return number < 0 ? std::nullopt : std::optional(static_cast<double>(number));
}

void write_rows(JsonStream& json, const std::vector<Row>& rows) {
  PageRows page(json, rows);
  json.new_line();
  json.key("row");
  json.begin_object();
  page.numbers("verdict", [](const Row& row) { return std::optional(static_cast<double>(row.verdict)); });
  page.numbers("step", [](const Row& row) { return std::optional(static_cast<double>(row.step)); });
  page.numbers("rank", [](const Row& row) { return std::optional(static_cast<double>(row.rank)); });
  page.numbers("call", [](const Row& row) { return known(row.call); });
  page.numbers("execution_index", [](const Row& row) { return known(row.execution_index); });
  page.numbers("error", [](const Row& row) { return row.error; });
  page.numbers("threshold", [](const Row& row) { return row.threshold; });
  page.numbers("origin",
               [](const Row& row) { return row.origin ? std::optional(*row.origin ? 1.0 : 0.0) : std::nullopt; });
  page.numbers("sides",
               [](const Row& row) { return std::optional((row.reference ? 1.0 : 0.0) + (row.target ? 2.0 : 0.0)); });
  page.texts("name", [](const Row& row) -> std::string_view { return row.name; });
  page.texts("target_name", [](const Row& row) -> std::string_view {
    return row.target && row.target->name != row.name ? std::string_view(row.target->name) : std::string_view();
  });
  page.texts("layer", [](const Row& row) -> std::string_view { return row.layer.empty() ? row.name : row.layer; });
  page.texts("module", [](const Row& row) -> std::string_view { return row.module; });
  page.texts("op", [](const Row& row) -> std::string_view { return row.op; });
  page.texts("slot", [](const Row& row) -> std::string_view { return row.slot; });
  page.texts("source", [](const Row& row) -> std::string_view { return row.source; });
  page.texts("kind", [](const Row& row) { return dump::to_text(row.kind); });
  page.texts("phase", [](const Row& row) { return dump::to_text(row.phase); });
  page.texts("direction", [](const Row& row) { return dump::to_text(row.direction); });
  page.texts("why", [](const Row& row) -> std::string_view { return row.why; });
  page.texts("code", [](const Row& row) -> std::string_view { return row.code; });
  page.texts("threshold_from", [](const Row& row) -> std::string_view { return row.threshold_from; });
  page.side("reference", &Row::reference);
  page.side("target", &Row::target);
  json.end_object();
}

/// The page lists visible columns only: `shown[k]` is the report's index of its k-th column.
std::vector<std::size_t> visible_columns(const Report& report) {
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < report.columns.size(); ++i) {
    if (!report.columns[i].hidden) shown.push_back(i);
  }
  return shown;
}

void write_data(const Report& report, std::ostream& out, Language language) {
  JsonStream json(out, true);
  const auto shown = visible_columns(report);
  json.begin_object();
  json.member("schema", "msprobe.page/1");
  json.member("language", language == Language::chinese ? "zh" : "en");
  json.member("outcome", to_text(outcome_of(report)));
  const auto* bad = first_bad_of(report);
  json.key("first_bad_row");
  bad == nullptr ? json.null() : json.value(static_cast<std::uint64_t>(bad - report.rows.data()));
  write_json_head(json, report);
  write_json_findings(json, report);
  json.member("count", static_cast<std::uint64_t>(report.rows.size()));
  json.key("main_columns");
  json.begin_array();
  for (const auto index : main_columns(report, 2)) {
    for (std::size_t k = 0; k < shown.size(); ++k) {
      if (shown[k] == index) json.value(static_cast<std::uint64_t>(k));
    }
  }
  json.end_array();
  write_rows(json, report.rows);
  json.new_line();
  json.key("metrics");
  json.begin_array();
  for (const auto index : shown) {
    json.new_line();
    write_page_metric(json, report.rows, index);
  }
  json.end_array();
  json.end_object();
}

}  // namespace

void write_html(const Report& report, std::ostream& out, Language language) {
  const auto script = script_text();
  std::string_view rest = page::markup;
  const auto up_to = [&](std::string_view mark) {
    const auto at = rest.find(mark);
    out << rest.substr(0, at);
    rest.remove_prefix(at + mark.size());
  };
  up_to("@CSP@");
  out << policy(script);
  up_to("@STYLE@");
  out << page::style;
  up_to("@DATA@");
  write_data(report, out, language);
  up_to("@SCRIPT@");
  out << script << rest;
}

}  // namespace msprobe::report
