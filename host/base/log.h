/// The one logger. Lines go to stderr as "msprobe: warning: ..."; a status line at the bottom of a terminal stays below
/// them.
#pragma once
#include <string_view>

namespace msprobe::log {

enum class Level { debug, info, warning, error };

void set_level(Level lowest);  ///< lines below are dropped; the default is `warning`
void write(Level level, std::string_view text);
inline void debug(std::string_view text) {
  write(Level::debug, text);
}
inline void info(std::string_view text) {
  write(Level::info, text);
}
inline void warning(std::string_view text) {
  write(Level::warning, text);
}

/// Replaces the status line (a progress bar); empty: none. Only for a stderr that is a terminal.
void set_status(std::string_view line);

}  // namespace msprobe::log
