#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string_view>

#include "base/error.h"
#include "report/atomic_file.h"
#include "report/writers.h"

namespace msprobe::report {
namespace {

struct Format {
  std::string_view suffix;
  void (*write)(const result::Report&, std::ostream&, const TerminalOptions&);
};

/// Another output is one more line here and one more file beside this one.
constexpr std::array formats = {
    Format{".json",
           [](const result::Report& report, std::ostream& out, const TerminalOptions&) { write_json(report, out); }},
    Format{".csv",
           [](const result::Report& report, std::ostream& out, const TerminalOptions&) { write_csv(report, out); }},
    Format{".html", [](const result::Report& report, std::ostream& out,
                       const TerminalOptions& options) { write_html(report, out, options.language); }},
};

const Format& format_of(const std::string& path) {
  auto suffix = std::filesystem::path(path).extension().string();
  for (auto& c : suffix) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  std::string known;
  for (const auto& format : formats) {
    if (suffix == format.suffix) return format;
    known += (known.empty() ? "" : ", ") + std::string(format.suffix);
  }
  throw Error("E6002",
              suffix.empty() ? "the output has no suffix that says its format" : "unknown output format " + suffix,
              path, "use one of " + known + ", or - for JSON on stdout");
}

}  // namespace

void check_output(const std::string& path) {
  if (path == "-") return;
  format_of(path);
  check_writable(path);
}

void write_output(const result::Report& report, const std::string& path, const TerminalOptions& options) {
  if (path == "-") {
    errno = 0;
    write_json(report, std::cout);
    std::cout.flush();
    if (std::cout) return;
    const int error = errno;
    throw Error(error == ENOSPC ? "E1001" : "E1002",
                std::string("the report cannot be written (") + std::strerror(error == 0 ? EIO : error) + ")", "stdout",
                "give a file with -o");
  }
  const auto& format = format_of(path);
  write_atomically(path, [&](std::ostream& out) { format.write(report, out, options); });
}

}  // namespace msprobe::report
