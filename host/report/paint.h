/// Colour in a terminal, only when asked for.
#pragma once
#include <string>
#include <string_view>

#include "engine/result.h"

namespace msprobe::report {

class Paint {
 public:
  explicit Paint(bool on) : on_(on) {}
  std::string bold(std::string_view text) const { return in("1", text); }
  std::string dim(std::string_view text) const { return in("2", text); }
  std::string as(result::Verdict verdict, std::string_view text) const {
    switch (verdict) {
      case result::Verdict::pass:
        return in("32", text);
      case result::Verdict::warn:
        return in("33", text);
      case result::Verdict::skip:
        return in("2", text);
      case result::Verdict::fail:
      case result::Verdict::error:
        break;
    }
    return in("1;31", text);
  }

 private:
  std::string in(const char* code, std::string_view text) const {
    return on_ ? "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m" : std::string(text);
  }
  bool on_;
};

}  // namespace msprobe::report
