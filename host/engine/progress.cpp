#include "engine/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/log.h"

namespace msprobe::engine {

Progress::Progress(bool active, std::uint64_t rows, const std::atomic<std::uint64_t>& bytes)
    : rows_(rows), bytes_(bytes) {
  if (!active) return;
  drawer_ = std::jthread([this](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any tick;
    std::unique_lock lock(mutex);
    // A run that is over at once shows nothing.
    while (!tick.wait_for(lock, stop, std::chrono::milliseconds(100), [&] { return stop.stop_requested(); })) draw();
  });
}

Progress::~Progress() {
  if (!drawer_.joinable()) return;
  drawer_.request_stop();
  drawer_.join();
  log::set_status("");
}

void Progress::draw() const {
  constexpr std::uint64_t cells = 24;
  const std::uint64_t done = done_, filled = cells * done / std::max<std::uint64_t>(rows_, 1);
  log::set_status(fmt::format("[{:#<{}}{:.<{}}] {}/{} rows, {} failed, {:.1f} GB", "", filled, "", cells - filled, done,
                              rows_, failed_.load(), static_cast<double>(bytes_.load()) / 1e9));
}

}  // namespace msprobe::engine
