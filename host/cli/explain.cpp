#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iostream>

#include "base/error.h"
#include "base/error_catalogue.h"
#include "base/nearest.h"
#include "cli/command.h"
#include "cli/options.h"

namespace msprobe::cli {
namespace {

/// Wraps at spaces; Chinese text has none and counts two columns a character, so it is cut anywhere.
std::string wrapped(std::string_view text, std::size_t width) {
  std::string out;
  std::size_t column = 0;
  for (std::size_t i = 0; i < text.size();) {
    const bool wide = static_cast<unsigned char>(text[i]) >= 0xE0;
    std::size_t end = i;
    if (wide)
      end = std::min(i + 3, text.size());
    else
      while (end < text.size() && text[end] != ' ' && static_cast<unsigned char>(text[end]) < 0xE0) ++end;
    const std::size_t cells = wide ? 2 : end - i;
    if (column + cells > width && column > 0) {
      out += '\n';
      column = 0;
    }
    out += text.substr(i, end - i);
    column += cells;
    i = end;
    if (i < text.size() && text[i] == ' ') {
      ++i;
      if (column > 0 && column < width) {
        out += ' ';
        ++column;
      }
    }
  }
  return out;
}

}  // namespace

int explain(const Arguments& arguments) {
  po::options_description options("Options", 80);
  options.add_options()("code", po::value<std::string>()->value_name("CODE"), "an error code: E4002")("help,h",
                                                                                                      "this text");
  add_language(options);
  Arguments named = arguments;
  // The code may stand alone: `msprobe explain E4002`.
  for (auto& argument : named)
    if (argument.size() >= 2 && std::toupper(static_cast<unsigned char>(argument[0])) == 'E' &&
        std::isdigit(static_cast<unsigned char>(argument[1])))
      argument = "--code=" + argument;
  const auto values = parse(named, options);
  if (values.count("help"))
    return print_help(
        "Usage: msprobe explain [CODE] [--lang en|zh]\n\nThe long form of an error code; without one, the list.\n",
        options);
  const bool chinese = language_of(values) == report::Language::chinese;
  if (!values.count("code")) {
    for (const ErrorEntry& entry : error_catalogue())
      std::cout << fmt::format("{}  {}\n", entry.code, chinese ? entry.title_zh : entry.title);
    return ok;
  }
  std::string code = values["code"].as<std::string>();
  std::transform(code.begin(), code.end(), code.begin(), [](unsigned char c) { return std::toupper(c); });
  const ErrorEntry* entry = find_error(code);
  if (!entry) {
    std::vector<std::string> codes;
    for (const ErrorEntry& known : error_catalogue()) codes.emplace_back(known.code);
    const auto near = nearest(code, codes, 1);
    throw Error("E6002", fmt::format("there is no error code '{}'", code), "msprobe explain",
                near.empty() ? "`msprobe explain` lists them all" : fmt::format("do you mean {}?", near[0]));
  }
  std::cout << fmt::format("{}  {}\n\n{}\n", entry->code, chinese ? entry->title_zh : entry->title,
                           wrapped(chinese ? entry->explanation_zh : entry->explanation, 78));
  return ok;
}

}  // namespace msprobe::cli
