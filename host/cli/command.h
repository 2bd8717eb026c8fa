/// The commands of `msprobe`: one file each, one table in main.cpp.
#pragma once
#include <string>
#include <vector>

namespace msprobe::cli {

/// Exit codes of every command (docs/commands.md).
enum ExitCode { ok = 0, failed = 1, unusable = 2, incomplete = 3, interrupted = 130 };

using Arguments = std::vector<std::string>;  ///< what follows the command's name

int compare(const Arguments& arguments);
int explain(const Arguments& arguments);
int plugins(const Arguments& arguments);
int register_plugin(const Arguments& arguments);
int unregister_plugin(const Arguments& arguments);

/// The command line as typed, for the report.
const std::vector<std::string>& command_line();

}  // namespace msprobe::cli
