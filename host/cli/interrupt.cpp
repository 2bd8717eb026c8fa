#include "cli/interrupt.h"

#include <atomic>
#include <csignal>

namespace msprobe::cli {
namespace {

std::atomic<bool> wanted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "used in a signal handler");

void on_signal(int signal) {
  wanted = true;
  std::signal(signal, SIG_DFL);
}

}  // namespace

void catch_interrupt() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

bool interrupt_wanted() {
  return wanted.load(std::memory_order_relaxed);
}

}  // namespace msprobe::cli
