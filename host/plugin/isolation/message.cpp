#include "plugin/isolation/message.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>

namespace msprobe::plugin {
namespace {

/// Far above any row; a length beyond it comes from damaged memory.
constexpr std::uint64_t longest_message = std::uint64_t{1} << 36;

using Clock = std::chrono::steady_clock;

bool send_all(int socket, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t sent = ::send(socket, data, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    data += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

struct Deadline {
  Clock::time_point end;
  bool forever;
  bool (*cancelled)(void*);
  void* context;

  /// How long to wait before looking again.
  int slice() const {
    constexpr int look_again = 100;
    if (forever) return cancelled ? look_again : -1;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    const auto wanted = std::max<std::int64_t>(0, left + 1);
    return static_cast<int>(cancelled ? std::min<std::int64_t>(wanted, look_again) : wanted);
  }
  bool over() const { return !forever && Clock::now() >= end; }
};

/// Waits for bytes and takes up to `size` of them; `got` says how many.
Received receive_some(int socket, char* data, std::size_t size, std::size_t& got, const Deadline& deadline) {
  const bool must_look = !deadline.forever || deadline.cancelled;
  for (;;) {
    if (must_look) {
      pollfd waiting{socket, POLLIN, 0};
      const int ready = ::poll(&waiting, 1, deadline.slice());
      if (ready < 0 && errno != EINTR) return Received::ended;
      if (ready <= 0) {
        if (deadline.cancelled && deadline.cancelled(deadline.context)) return Received::cancelled;
        if (deadline.over()) return Received::timed_out;
        continue;
      }
    }
    const ssize_t taken = ::recv(socket, data, size, 0);
    if (taken < 0 && errno == EINTR) continue;
    if (taken <= 0) return Received::ended;
    got = static_cast<std::size_t>(taken);
    return Received::whole;
  }
}

}  // namespace

bool send_message(int socket, const std::string& data) {
  const std::uint64_t size = data.size();
  std::string framed(sizeof size + data.size(), '\0');
  std::memcpy(framed.data(), &size, sizeof size);
  std::memcpy(framed.data() + sizeof size, data.data(), data.size());
  return send_all(socket, framed.data(), framed.size());
}

Received receive_message(int socket, std::string& data, int milliseconds, bool (*cancelled)(void*), void* context) {
  const Deadline deadline{Clock::now() + std::chrono::milliseconds(std::max(milliseconds, 0)), milliseconds < 0,
                          cancelled, context};
  // Messages do not queue: one side waits while the other works. So a short one, and most are, takes one call.
  std::array<char, 4096> first;
  std::size_t have = 0;
  std::uint64_t size = 0;
  while (have < sizeof size) {
    std::size_t got = 0;
    if (const auto received = receive_some(socket, first.data() + have, first.size() - have, got, deadline);
        received != Received::whole)
      return received;
    have += got;
  }
  std::memcpy(&size, first.data(), sizeof size);
  have -= sizeof size;
  if (size > longest_message || have > size) return Received::garbled;
  data.assign(first.data() + sizeof size, have);
  while (have < size) {
    // A false length costs no more memory than what really comes.
    data.resize(std::min<std::uint64_t>(size, std::max<std::uint64_t>(2 * have, 1 << 20)));
    std::size_t got = 0;
    if (const auto received = receive_some(socket, data.data() + have, data.size() - have, got, deadline);
        received != Received::whole)
      return received;
    have += got;
  }
  data.resize(size);
  return Received::whole;
}

}  // namespace msprobe::plugin
