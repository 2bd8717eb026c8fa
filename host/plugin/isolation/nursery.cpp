#include "plugin/isolation/nursery.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/error.h"
#include "plugin/isolation/child.h"

namespace msprobe::plugin {
namespace {

enum class Order : std::uint32_t { spawn, reap, kill };
struct Request {
  Order order;
  std::int32_t process;
};
struct Answer {
  std::int32_t value;  ///< the new process, or a wait status; -1: failed
};

[[noreturn]] void throw_no_process(int error) {
  throw Error(
      "E5012", fmt::format("no worker process: {}", std::strerror(error)), "isolation",
      "raise the limit of processes and open files (ulimit -u, -n), use fewer workers (-j), or --isolate never");
}

/// Sends an answer, with an open file when it is not negative.
bool answer(int socket, Answer value, int file) {
  iovec data{&value, sizeof value};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (file >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &file, sizeof file);
  }
  return ::sendmsg(socket, &message, MSG_NOSIGNAL) == sizeof value;
}

bool receive_answer(int socket, Answer& value, int& file) {
  iovec data{&value, sizeof value};
  msghdr message{};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got;
  do got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  if (got != sizeof value) return false;
  if (const cmsghdr* header = CMSG_FIRSTHDR(&message); header && header->cmsg_type == SCM_RIGHTS)
    std::memcpy(&file, CMSG_DATA(header), sizeof file);
  return true;
}

void spawn_worker(int socket, const std::function<void(int)>& worker) {
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    answer(socket, {-errno}, -1);
    return;
  }
  const pid_t nursery = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    restrict_child(nursery, 0);
    ::close(socket);
    ::close(sockets[0]);
    try {
      worker(sockets[1]);
    } catch (...) {
      ::_exit(125);  // no memory for a message, say: must not unwind into the code that forked
    }
    ::_exit(0);
  }
  const int failed = errno;
  ::close(sockets[1]);
  answer(socket, {child < 0 ? -failed : child}, child < 0 ? -1 : sockets[0]);
  ::close(sockets[0]);
}

[[noreturn]] void serve(int socket, pid_t host, const std::function<void(int)>& worker) {
  restrict_child(host, 0);
  for (;;) {
    Request request{};
    const ssize_t got = ::recv(socket, &request, sizeof request, MSG_WAITALL);
    if (got < 0 && errno == EINTR) continue;
    if (got != sizeof request) ::_exit(0);  // the host is gone or done
    switch (request.order) {
      case Order::spawn:
        spawn_worker(socket, worker);
        break;
      case Order::reap:
        answer(socket, {reap_child(request.process)}, -1);
        break;
      case Order::kill:
        answer(socket, {end_child(request.process)}, -1);
        break;
    }
  }
}

}  // namespace

Nursery::Nursery(std::function<void(int)> worker) {
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) throw_no_process(errno);
  const pid_t host = ::getpid();
  process_ = ::fork();
  if (process_ == 0) {
    ::close(sockets[0]);
    serve(sockets[1], host, worker);
  }
  ::close(sockets[1]);
  socket_ = sockets[0];
  if (process_ < 0) {
    ::close(socket_);
    throw_no_process(errno);
  }
}

Nursery::~Nursery() {
  ::close(socket_);
  reap_child(process_);
}

Nursery::Child Nursery::spawn() {
  const std::lock_guard lock(mutex_);
  const Request request{Order::spawn, 0};
  Answer value{-EPIPE};
  Child child;
  if (::send(socket_, &request, sizeof request, MSG_NOSIGNAL) != sizeof request ||
      !receive_answer(socket_, value, child.socket))
    throw_no_process(EPIPE);
  if (value.value < 0 || child.socket < 0) throw_no_process(value.value < 0 ? -value.value : EMFILE);
  child.process = value.value;
  return child;
}

int Nursery::end(pid_t process, bool kill) {
  const std::lock_guard lock(mutex_);
  const Request request{kill ? Order::kill : Order::reap, process};
  Answer value{0};
  int none = -1;
  if (::send(socket_, &request, sizeof request, MSG_NOSIGNAL) != sizeof request ||
      !receive_answer(socket_, value, none))
    return 0;
  return value.value;
}

}  // namespace msprobe::plugin
