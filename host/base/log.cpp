#include "base/log.h"

#include <atomic>
#include <cstdio>
#include <mutex>

namespace msprobe::log {
namespace {

std::mutex mutex;
std::atomic<Level> lowest_level{Level::warning};
std::string status_line;  // guarded by mutex

void wipe_status() {
  if (!status_line.empty()) std::fputs("\r\033[K", stderr);
}

}  // namespace

void set_level(Level lowest) {
  lowest_level = lowest;
}

void write(Level level, std::string_view text) {
  if (level < lowest_level.load()) return;
  static constexpr const char* prefix[] = {"debug: ", "", "warning: ", ""};
  const std::lock_guard lock(mutex);
  wipe_status();
  std::fprintf(stderr, "msprobe: %s%.*s\n", prefix[static_cast<int>(level)], static_cast<int>(text.size()),
               text.data());
  std::fputs(status_line.c_str(), stderr);
  std::fflush(stderr);
}

void set_status(std::string_view line) {
  const std::lock_guard lock(mutex);
  wipe_status();
  status_line = line;
  std::fputs(status_line.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace msprobe::log
