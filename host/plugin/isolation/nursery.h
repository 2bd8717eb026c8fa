/// A process that makes worker processes. It is forked while the host has one thread, and keeps one: forking from it is
/// safe at any time, and each worker has the catalogues and the plan in its memory without reading them again.
#pragma once
#include <sys/types.h>

#include <functional>
#include <mutex>

namespace msprobe::plugin {

class Nursery {
 public:
  /// Forks. `worker` is what each worker process runs with its end of a socket; when it returns the process ends.
  /// Must be called while the process has a single thread. Throws Error E5012 when the system gives no process.
  explicit Nursery(std::function<void(int socket)> worker);
  Nursery(const Nursery&) = delete;
  Nursery& operator=(const Nursery&) = delete;
  ~Nursery();

  struct Child {
    pid_t process = -1;
    int socket = -1;
  };
  /// Any thread. Throws Error E5012.
  Child spawn();
  /// Ends a worker (killing it when `kill`, else when it is not gone within a second) and returns its wait status. Any
  /// thread.
  int end(pid_t process, bool kill);

 private:
  pid_t process_ = -1;
  int socket_ = -1;
  std::mutex mutex_;
};

}  // namespace msprobe::plugin
