#include "report/speech.h"

#include "report/text_layout.h"

namespace msprobe::report {

std::string verdict_word(const Speech& say, result::Verdict verdict) {
  switch (verdict) {
    case result::Verdict::pass:
      return say("pass", "通过");
    case result::Verdict::warn:
      return say("warn", "警告");
    case result::Verdict::fail:
      return say("fail", "失败");
    case result::Verdict::skip:
      return say("skip", "跳过");
    case result::Verdict::error:
      return say("error", "出错");
  }
  return {};
}

std::string direction_word(const Speech& say, dump::Direction direction) {
  switch (direction) {
    case dump::Direction::input:
      return say("input", "输入");
    case dump::Direction::parameter:
      return say("parameter", "参数");
    case dump::Direction::output:
      return say("output", "输出");
    case dump::Direction::gradient:
      return say("gradient", "梯度");
    case dump::Direction::none:
      break;
  }
  return {};
}

std::string layer_text(const Speech& say, const result::Row& row) {
  auto text = visible(row.layer.empty() ? row.name : row.layer);
  const bool inside = !row.module.empty() && row.layer.find(row.module) == std::string::npos;
  if (inside) text += say(" in {}", "（位于 {}）", visible(row.module));
  return text;
}

std::string place_text(const Speech& say, const result::Row& row) {
  std::string text;
  const auto add = [&](const std::string& part) {
    if (part.empty()) return;
    if (!text.empty()) text += ' ';
    text += part;
  };
  // A gradient is always of the backward pass.
  const bool gradient = row.direction == dump::Direction::gradient;
  if (row.phase == dump::Phase::backward && !gradient) add(say("backward", "反向"));
  if (row.phase == dump::Phase::update) add(say("update", "更新"));
  if (row.call > 0) add(say("call {}", "调用 {}", row.call));
  add(direction_word(say, row.direction));
  add(visible(row.slot));
  return text;
}

}  // namespace msprobe::report
