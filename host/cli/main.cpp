#include <fmt/format.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <iostream>

#include "base/error.h"
#include "base/nearest.h"
#include "cli/command.h"

namespace msprobe::cli {
namespace {

struct Command {
  const char* name;
  int (*run)(const Arguments&);
  const char* summary;
};

constexpr std::array commands{
    Command{"compare", compare, "compare two dumps, name the first bad layer"},
    Command{"plugins", plugins, "list the analyzers and where each comes from"},
    Command{"register_plugin", register_plugin, "give an analyzer library a name for -m"},
    Command{"unregister_plugin", unregister_plugin, "forget a registered name"},
    Command{"explain", explain, "the long form of an error code"},
};

std::vector<std::string> line;

int print_usage(std::FILE* to) {
  fmt::print(to, "msprobe {}: which layer went wrong, by how much, and why\n\nUsage: msprobe COMMAND [OPTIONS]\n\n",
             MSPROBE_VERSION);
  for (const Command& command : commands) fmt::print(to, "  {:<18} {}\n", command.name, command.summary);
  fmt::print(to,
             "\n`msprobe COMMAND --help` shows the options. First use:\n  msprobe compare -r gpu_dump/ -t npu_dump/ -o "
             "report.html\n");
  return to == stdout ? ok : unusable;
}

int run(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file size limit is a full disk: the write says so
  line.assign(argv, argv + argc);
  if (argc < 2) return print_usage(stderr);
  const std::string name = argv[1];
  if (name == "--version" || name == "-V") {
    fmt::print("msprobe {}\n", MSPROBE_VERSION);
    return ok;
  }
  if (name == "--help" || name == "-h" || name == "help") return print_usage(stdout);
  const Arguments arguments(argv + 2, argv + argc);
  std::vector<std::string> names;
  for (const Command& command : commands) {
    if (name == command.name) return command.run(arguments);
    names.emplace_back(command.name);
  }
  const auto near = nearest(name, names, 1);
  throw Error("E6001", fmt::format("unknown command '{}'", name), "command line",
              near.empty() ? "see `msprobe --help`" : fmt::format("do you mean '{}'?", near[0]));
}

}  // namespace

const std::vector<std::string>& command_line() {
  return line;
}

}  // namespace msprobe::cli

/// Never throws: a full disk behind stderr must not hide the exit code.
static void print_error(const std::string& text) {
  std::fputs(("msprobe: error " + text + "\n").c_str(), stderr);
}

int main(int argc, char** argv) {
  try {
    const int code = msprobe::cli::run(argc, argv);
    // A full disk behind stdout must not look like success.
    std::cout.flush();
    if (!std::cout || std::fflush(stdout) != 0)
      throw msprobe::Error("E1001", "the output cannot be written", "stdout",
                           "free some space, or write a report with -o");
    return code;
  } catch (const msprobe::Error& error) {
    std::cout.flush();
    print_error(error.what());
  } catch (const std::bad_alloc&) {
    print_error("E1001: out of memory: this machine: use fewer workers (-j) or a machine with more memory");
  } catch (const std::exception& error) {
    print_error(fmt::format("E5008: {}: msprobe: please report this with the command that shows it", error.what()));
  }
  return msprobe::cli::unusable;
}
