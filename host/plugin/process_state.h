/// What a plugin may change in the whole process: the working directory, the locale, the floating-point mode.
#pragma once
#include <cfenv>
#include <clocale>
#include <cstdint>
#include <string>

namespace msprobe::plugin {

/// Remembers the state when it is made; `put_back` after a plugin has run. Cheap enough for each callback.
class ProcessState {
 public:
  ProcessState();
  /// Restores what differs and names it: "the locale"; empty: all is as it was. On the thread that made this.
  std::string put_back() const;

 private:
  std::fenv_t environment_{};
  std::uint64_t floating_point_;
  locale_t thread_locale_;
};

}  // namespace msprobe::plugin
