/// The outputs: each is a view of the Report.
#pragma once
#include <iosfwd>
#include <string>

#include "engine/result.h"

namespace msprobe::report {

enum class Language { english, chinese };

struct TerminalOptions {
  unsigned width = 80;
  bool color = false;
  bool all_rows = false;  ///< the full list, not only the worst and the first bad ones
  int verbosity = 1;      ///< 0 one line, 1 table, 2 all rows, 3 every metric of every tensor
  Language language = Language::english;
};

void write_terminal(const result::Report& report, std::ostream& out, const TerminalOptions& options);
void write_json(const result::Report& report, std::ostream& out);
void write_csv(const result::Report& report, std::ostream& out);
void write_html(const result::Report& report, std::ostream& out, Language language);

/// Throws Error E6002 for a suffix that no writer has, E1001 or E1002 when the folder is missing or not writable:
/// called before the run, so that nobody waits an hour for a typing mistake.
void check_output(const std::string& path);
/// Writes beside the target and renames: an earlier report stays whole when the disk is full (Error E1001). "-" writes
/// JSON to stdout.
void write_output(const result::Report& report, const std::string& path, const TerminalOptions& options);

}  // namespace msprobe::report
