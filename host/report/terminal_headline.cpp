#include <algorithm>
#include <cmath>
#include <ostream>

#include "report/numbers.h"
#include "report/overview.h"
#include "report/terminal_parts.h"
#include "report/text_layout.h"

namespace msprobe::report {
namespace {

using namespace result;

struct Headline {
  Verdict color;
  std::string word;                ///< "FAIL"
  std::vector<std::string> parts;  ///< what follows, in order
};

std::string error_text(const Terminal& terminal, const Row& row) {
  const auto& say = terminal.say;
  if (row.kind == dump::Kind::scalar && row.reference && row.target) {
    return say("{} against {}", "{} 对 {}", visible(row.reference->scalar), visible(row.target->scalar));
  }
  if (!row.error) return {};
  // "Infinity > 1e-05" would hide what happened: NaN, another shape, a lost tensor.
  if (!std::isfinite(*row.error) && !row.why.empty()) return visible(row.why);
  if (!row.threshold) return say("error {}", "误差 {}", brief(*row.error));
  const auto [error, threshold] = brief_pair(*row.error, *row.threshold);
  // A row may fail for another reason than its headline error (one block, a per-layer limit): then no ">" is claimed.
  if (!(*row.error <= *row.threshold)) return say("error {} > {}", "误差 {} > {}", error, threshold);
  return say("error {}, threshold {}", "误差 {}，阈值 {}", error, threshold);
}

void add_first_bad(const Terminal& terminal, Headline& headline) {
  const auto* row = first_bad_of(terminal.report);
  if (row == nullptr) return;
  const auto& say = terminal.say;
  headline.parts.push_back(say("first bad layer: {}", "首个异常层：{}", layer_text(say, *row)));
  headline.parts.push_back(place_text(say, *row));
  const auto extent = extent_of(terminal.report);
  if (extent.steps) headline.parts.push_back(say("step {}", "步 {}", row->step));
  if (extent.ranks) headline.parts.push_back(say("rank {}", "卡 {}", row->rank));
  headline.parts.push_back(error_text(terminal, *row));
  if (!row->source.empty()) headline.parts.push_back(fmt::format("({})", visible(row->source)));
}

std::string largest_error(const Terminal& terminal) {
  const auto& error = terminal.report.summary.max_error;
  if (!error) return {};
  // Of an analyzer without the standard metrics 0 means nothing but its own error.
  const auto& columns = terminal.report.columns;
  const bool standard =
      std::any_of(columns.begin(), columns.end(), [](const Column& column) { return column.name == "rel_l2"; });
  if (*error == 0 && standard) return terminal.say("all equal", "完全一致");
  return terminal.say("largest error {}", "最大误差 {}", brief(*error));
}

std::string tensors_compared(const Terminal& terminal) {
  const auto& say = terminal.say;
  std::uint64_t arguments = 0;
  for (const auto& row : terminal.report.rows)
    arguments += row.kind == dump::Kind::scalar && row.verdict != Verdict::skip && row.verdict != Verdict::error;
  const auto tensors = terminal.report.summary.compared - arguments;
  const auto text = say(tensors == 1 ? "{} tensor" : "{} tensors", "{} 个张量", grouped(tensors));
  if (arguments == 0) return say("{} compared", "已比较 {}", text);
  const auto rest = say(arguments == 1 ? "{} argument" : "{} arguments", "{} 个参数", grouped(arguments));
  return say("{} and {} compared", "已比较 {}和 {}", text, rest);
}

std::string warnings(const Terminal& terminal) {
  const auto count = terminal.report.summary.warn;
  if (count == 0) return {};
  return terminal.say(count == 1 ? "{} warning" : "{} warnings", "{} 个警告", grouped(count));
}

std::string missing(const Terminal& terminal) {
  const auto& summary = terminal.report.summary;
  if (summary.partial) return terminal.say("the run was interrupted", "运行被中断");
  const auto unmatched = summary.unmatched_reference + summary.unmatched_target;
  if (unmatched > 0) return terminal.say("{} found on one side only", "{} 个张量只在一侧", grouped(unmatched));
  if (summary.error > 0) return terminal.say("{} could not be read", "{} 个张量无法读取", grouped(summary.error));
  return terminal.say("a dump was cut short", "有数据不完整");
}

/// The parts that are there, as one sentence.
std::vector<std::string> sentence(const Terminal& terminal, const std::vector<std::string>& parts) {
  std::string text;
  for (const auto& part : parts) {
    if (!part.empty() && !text.empty()) text += terminal.say(", ", "，");
    text += part;
  }
  return {text};
}

std::string nothing_compared(const Terminal& terminal) {
  const auto& say = terminal.say;
  const auto& summary = terminal.report.summary;
  if (terminal.report.rows.empty()) return say("no tensors were found", "没有找到张量");
  if (summary.error > 0)
    return say("{} could not be compared, -v 2 says why", "{} 个无法比较，原因见 -v 2", grouped(summary.error));
  return say("every row was skipped, -v 2 says why", "所有行都被跳过，原因见 -v 2");
}

Headline headline_of(const Terminal& terminal) {
  const auto& say = terminal.say;
  switch (outcome_of(terminal.report)) {
    case Outcome::failed: {
      Headline headline{Verdict::fail, say("FAIL", "失败"), {}};
      add_first_bad(terminal, headline);
      return headline;
    }
    case Outcome::failed_on_warning:
      return {Verdict::fail, say("FAIL", "失败"),
              sentence(terminal, {say("{} counted as failures (--fail-on warn)", "{}，按 --fail-on warn 视为失败",
                                      warnings(terminal)),
                                  largest_error(terminal)})};
    case Outcome::incomplete:
      return {Verdict::warn, say("INCOMPLETE", "不完整"),
              sentence(terminal, {say("nothing failed, but {}", "没有失败项，但{}", missing(terminal)),
                                  tensors_compared(terminal)})};
    case Outcome::nothing_compared:
      return {Verdict::warn, say("NOTHING COMPARED", "未比较任何张量"), {nothing_compared(terminal)}};
    case Outcome::passed:
      break;
  }
  return {Verdict::pass, say("PASS", "通过"),
          sentence(terminal, {tensors_compared(terminal), warnings(terminal), largest_error(terminal)})};
}

}  // namespace

void write_headline(const Terminal& terminal, bool one_line) {
  auto headline = headline_of(terminal);
  const auto& summary = terminal.report.summary;
  if (summary.partial) headline.word += terminal.say(" (interrupted)", "（已中断）");
  if (one_line && summary.fail > 0) {
    headline.parts.push_back(
        terminal.say("{} of {} failed", "{1} 个中有 {0} 个失败", grouped(summary.fail), grouped(summary.compared)));
  }
  auto parts = headline.parts;
  // The verdict and what it is about stay on one line, however long the name is.
  if (parts.empty()) parts.emplace_back();
  parts.front() = headline.word + (parts.front().empty() ? "" : "  ") + parts.front();
  if (!one_line) {
    std::vector<std::string> fitting;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      // The first holds the layer's name, which is never broken.
      if (i == 0)
        fitting.push_back(parts[i]);
      else
        for (auto& line : wrap(parts[i], terminal.options.width - 6)) fitting.push_back(std::move(line));
    }
    parts = std::move(fitting);
  }
  auto lines = flow(parts, one_line ? ~0U : terminal.options.width, 6);
  // Painted after the layout: colour codes have no width.
  lines.front().replace(0, headline.word.size(), terminal.paint.as(headline.color, headline.word));
  for (const auto& line : lines) terminal.out << line << '\n';
}

void write_counts(const Terminal& terminal) {
  const auto& say = terminal.say;
  const auto& summary = terminal.report.summary;
  std::vector<std::string> parts;
  const auto add = [&](std::uint64_t count, std::string_view english, std::string_view chinese) {
    if (count > 0) parts.push_back(say(english, chinese, grouped(count)));
  };
  add(summary.fail, "{} failed", "{} 个失败");
  add(summary.warn, "{} warned", "{} 个警告");
  add(summary.pass, "{} passed", "{} 个通过");
  add(summary.error, "{} could not be compared", "{} 个无法比较");
  add(summary.skip, "{} skipped", "{} 个跳过");
  add(summary.unmatched_reference, "{} only in the reference", "{} 个只在基准中");
  add(summary.unmatched_target, "{} only in the target", "{} 个只在目标中");
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) parts[i] += say(",", "，");
  const auto first = say("{} compared:", "已比较 {} 个：", grouped(summary.compared));
  if (parts.empty()) {
    parts.push_back(say("no rows", "没有数据"));
  }
  parts.insert(parts.begin(), first);
  for (const auto& line : flow(parts, terminal.options.width - 2, 2, say.chinese() ? "" : " "))
    terminal.out << "  " << line << '\n';
}

void write_findings(const Terminal& terminal) {
  const auto& findings = terminal.report.findings;
  if (findings.empty()) return;
  const auto& say = terminal.say;
  constexpr std::size_t most = 8;
  const auto shown = terminal.options.verbosity >= 2 ? findings.size() : std::min(most, findings.size());
  terminal.out << '\n' << terminal.paint.bold(say("Findings", "结论")) << '\n';
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& finding = findings[i];
    const auto word = finding.level == Verdict::pass ? say("note", "说明") : verdict_word(say, finding.level);
    const auto& text = say.chinese() && !finding.text_zh.empty() ? finding.text_zh : finding.text;
    auto lines = wrap(visible(text), terminal.options.width - 9);
    terminal.out << "  " << terminal.paint.as(finding.level, pad_right(word, 5)) << "  " << lines.front() << '\n';
    for (std::size_t n = 1; n < lines.size(); ++n) terminal.out << std::string(9, ' ') << lines[n] << '\n';
  }
  if (shown < findings.size()) {
    terminal.out << "  " << say("{} more: -v 2", "还有 {} 条：-v 2", findings.size() - shown) << '\n';
  }
}

}  // namespace msprobe::report
