#include "dump/formats/ascend_names.h"

#include <charconv>

#include "base/file.h"

namespace msprobe::dump {
namespace {

/// Cuts off what follows the last dot.
std::string_view take_last(std::string_view& rest) {
  const std::size_t dot = rest.rfind('.');
  const std::string_view last = dot == std::string_view::npos ? rest : rest.substr(dot + 1);
  rest = dot == std::string_view::npos ? std::string_view() : rest.substr(0, dot);
  return last;
}

bool number(std::string_view text, std::int64_t* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return !text.empty() && error == std::errc() && end == text.data() + text.size() && *value >= 0;
}

Phase phase_of(std::string_view text) {
  return text == "forward" ? Phase::forward : text == "backward" ? Phase::backward : Phase::none;
}

void set_module(std::string_view layer, CallName& parsed) {
  parsed.layer = layer;
  std::string_view rest = layer;
  parsed.op = take_last(rest);
  parsed.module = rest;
}

}  // namespace

CallName parse_call_name(std::string_view name) {
  CallName parsed;
  std::string_view rest = name;
  const std::string_view last = take_last(rest);
  std::string_view before = rest;
  const std::string_view second = take_last(before);
  if (last == "parameters_grad") {
    set_module(rest, parsed);
    parsed.parameter_gradients = true;
    parsed.phase = Phase::backward;
  } else if (std::int64_t n = 0; second == "parameters_grad" && number(last, &n)) {
    set_module(before, parsed);
    parsed.parameter_gradients = true;
    parsed.phase = Phase::backward;
    parsed.call = n;
  } else if (phase_of(second) != Phase::none && number(last, &n) && !before.empty()) {
    set_module(before, parsed);
    parsed.phase = phase_of(second);
    parsed.call = n;
  } else if (phase_of(last) != Phase::none && number(second, &n) && !before.empty()) {
    parsed.layer = before;
    const std::size_t dot = before.find('.');
    parsed.op = dot == std::string_view::npos ? before : before.substr(dot + 1);
    parsed.phase = phase_of(last);
    parsed.call = n;
  } else if (last == "debug" && number(second, &n) && !before.empty()) {
    parsed.layer = before;
    parsed.call = n;
    parsed.debug = true;
    if (before.ends_with("_grad")) parsed.phase = Phase::backward;
  } else {
    parsed.layer = name;
  }
  return parsed;
}

std::string forward_name(std::string_view name, const CallName& parsed) {
  if (parsed.phase != Phase::backward || parsed.debug) return "";
  if (parsed.parameter_gradients || !parsed.module.empty())
    return std::string(parsed.layer) + ".forward." + std::to_string(parsed.call);
  return std::string(name.substr(0, name.size() - std::string_view("backward").size())) + "forward";
}

bool parse_frame(std::string_view text, Frame* frame) {
  if (!text.starts_with("File ")) return false;
  const std::size_t line = text.find(", line ");
  if (line == std::string_view::npos) return false;
  frame->file = text.substr(5, line - 5);
  std::string_view rest = text.substr(line + 7);
  const std::size_t comma = rest.find(',');
  frame->line = rest.substr(0, comma);
  frame->function = {};
  if (comma == std::string_view::npos || !rest.substr(comma).starts_with(", in ")) return true;
  rest.remove_prefix(comma + 5);
  frame->function = rest.substr(0, rest.find_first_of(",\n"));
  return true;
}

bool is_library(std::string_view file) {
  for (const std::string_view part :
       {"/site-packages/", "/dist-packages/", "/torch/", "\\site-packages\\", "\\torch\\"})
    if (file.find(part) != std::string_view::npos) return true;
  return file.starts_with("<");
}

std::string source_text(const Frame& frame) {
  std::string_view name = file::base_name(frame.file);
  if (const std::size_t slash = name.rfind('\\'); slash != std::string_view::npos) name.remove_prefix(slash + 1);
  std::string text(name);
  text += ':';
  text += frame.line;
  if (!frame.function.empty()) {
    text += " in ";
    text += frame.function;
  }
  return text;
}

}  // namespace msprobe::dump
