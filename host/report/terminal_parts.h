/// The parts of the terminal report; write_terminal puts them in order.
#pragma once
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "report/paint.h"
#include "report/speech.h"
#include "report/writers.h"

namespace msprobe::report {

struct Terminal {
  Terminal(const result::Report& shown, std::ostream& stream, const TerminalOptions& how)
      : report(shown), out(stream), options(how), say(how.language), paint(how.color) {}
  const result::Report& report;
  std::ostream& out;
  const TerminalOptions& options;
  Speech say;
  Paint paint;
};

/// Parts of a sentence on as few lines as the width allows; lines after the first are indented.
std::vector<std::string> flow(const std::vector<std::string>& parts, unsigned width, unsigned indent,
                              std::string_view between = "  ");

/// The verdict in words; one line whatever the width with `one_line`.
void write_headline(const Terminal& terminal, bool one_line);
void write_counts(const Terminal& terminal);
void write_findings(const Terminal& terminal);

/// A table that fits the width: less important columns go first, then long names lose their middle.
void write_table(const Terminal& terminal, const std::vector<const result::Row*>& rows);
/// Every row, nothing dropped or shortened (for grep): the layer comes last.
void write_all_rows(const Terminal& terminal);
/// Every metric of every row, with all digits.
void write_details(const Terminal& terminal);

}  // namespace msprobe::report
