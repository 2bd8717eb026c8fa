#include <algorithm>
#include <ostream>

#include "report/numbers.h"
#include "report/overview.h"
#include "report/terminal_parts.h"
#include "report/text_layout.h"

namespace msprobe::report {
namespace {

using namespace result;

constexpr std::size_t table_rows = 5;

void write_title(const Terminal& terminal, std::string_view title) {
  terminal.out << '\n' << terminal.paint.bold(title) << '\n';
}

void write_inputs(const Terminal& terminal) {
  const auto& say = terminal.say;
  const auto line = [&](std::string_view label, const Input& input) {
    auto text = visible(input.path);
    if (!input.tool.empty()) text += fmt::format("  {}", visible(input.tool));
    if (!input.task.empty()) text += fmt::format(" {}", visible(input.task));
    if (!input.level.empty()) text += fmt::format(" {}", visible(input.level));
    text += say(input.tensors == 1 ? ", {} tensor" : ", {} tensors", "，{} 个张量", input.tensors);
    if (input.incomplete) text += say(", cut short", "，不完整");
    const auto room = terminal.options.width - 13;
    std::string first = pad_right(label, 11);
    const auto add = [&](const std::string& content) {
      for (const auto& part : wrap(content, room)) {
        terminal.out << "  " << pad_right(first, 11) << part << '\n';
        first.clear();
      }
    };
    add(text);
    for (const auto& note : input.notes) add(visible(note));
  };
  line(say("reference", "基准"), terminal.report.reference);
  line(say("target", "目标"), terminal.report.target);
}

void write_unreadable(const Terminal& terminal) {
  const auto rows = first_unreadable(terminal.report, table_rows);
  if (rows.empty()) return;
  write_title(terminal, terminal.say("Could not be compared", "无法比较"));
  for (const auto* row : rows) {
    auto text = visible(row->name) + ": " + (row->code.empty() ? "" : visible(row->code) + " ") + visible(row->why);
    for (const auto& line : wrap(text, terminal.options.width - 2)) terminal.out << "  " << line << '\n';
  }
}

void write_tables(const Terminal& terminal) {
  const auto& say = terminal.say;
  const auto failing = first_failing(terminal.report, table_rows);
  const auto largest = worst(terminal.report, table_rows);
  if (!failing.empty()) {
    const bool all = terminal.report.summary.fail <= failing.size();
    write_title(terminal, all ? say("Failed, in execution order", "失败项（按执行顺序）")
                              : say("First failed, in execution order", "最先失败的项（按执行顺序）"));
    write_table(terminal, failing);
    if (all) return;  // the worst would be the same rows again
  }
  if (!largest.empty() && largest != failing) {
    write_title(terminal, say("Largest errors", "误差最大的项"));
    write_table(terminal, largest);
  }
}

void write_hint(const Terminal& terminal) {
  terminal.out << '\n';
  const auto text = terminal.say("More: -v 2 lists every row, -v 3 every metric, -o report.html makes a page.",
                                 "更多：-v 2 列出所有行，-v 3 列出所有指标，-o report.html 生成网页。");
  for (const auto& line : wrap(text, terminal.options.width)) terminal.out << terminal.paint.dim(line) << '\n';
}

}  // namespace

std::vector<std::string> flow(const std::vector<std::string>& parts, unsigned width, unsigned indent,
                              std::string_view between) {
  std::vector<std::string> lines;
  for (const auto& part : parts) {
    if (part.empty()) continue;
    if (lines.empty()) {
      lines.push_back(part);
    } else if (width_of(lines.back()) + between.size() + width_of(part) <= width) {
      lines.back() += std::string(between) + part;
    } else {
      lines.push_back(std::string(indent, ' ') + part);
    }
  }
  return lines;
}

void write_terminal(const Report& report, std::ostream& out, const TerminalOptions& options) {
  auto bounded = options;
  bounded.width = std::max(options.width, 40U);
  const Terminal terminal(report, out, bounded);
  write_headline(terminal, options.verbosity <= 0);
  if (options.verbosity <= 0) return;
  write_counts(terminal);
  write_inputs(terminal);
  write_findings(terminal);
  if (options.verbosity >= 3) {
    write_title(terminal, terminal.say("All rows", "所有行"));
    return write_details(terminal);
  }
  write_unreadable(terminal);
  if (options.verbosity == 2 || options.all_rows) {
    write_title(terminal, terminal.say("All rows", "所有行"));
    return write_all_rows(terminal);
  }
  write_tables(terminal);
  if (!report.rows.empty()) write_hint(terminal);
}

}  // namespace msprobe::report
