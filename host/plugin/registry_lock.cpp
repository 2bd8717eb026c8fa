#include "plugin/registry_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "plugin/plain_text.h"

namespace msprobe::plugin {
namespace {

constexpr auto patience = std::chrono::seconds(10);

[[noreturn]] void throw_not_writable(const std::string& path) {
  throw Error("E1002", fmt::format("the registry cannot be locked: {}", std::strerror(errno)), path,
              "set MSPROBE_HOME to a folder that you may write");
}

/// Calls attempt() until it says true; false when patience is at its end.
template <class Attempt>
bool wait_for(const Attempt& attempt) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!attempt()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

std::string who_am_i() {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  return fmt::format("process {} on {}\n", ::getpid(), host);
}

std::string first_line(const std::string& path) {
  std::string line;
  std::getline(std::ifstream(path), line);
  return line.empty() ? "an unknown process" : as_plain_text(line);
}

}  // namespace

RegistryLock::RegistryLock(const std::string& registry)
    : path_(registry + ".lock"), descriptor_(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
  if (descriptor_ < 0) throw_not_writable(path_);
  bool supported = true;
  const bool locked = wait_for([&] {
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return true;
    supported = errno == EWOULDBLOCK || errno == EINTR;
    return !supported;
  });
  if (!supported) {
    try {
      take_file();
    } catch (...) {
      ::close(descriptor_);
      throw;
    }
  } else if (!locked) {
    ::close(descriptor_);
    throw Error("E5015", "another msprobe has been changing the plugin registry for 10 s", path_, "try again");
  }
}

void RegistryLock::take_file() {
  const std::string held = path_ + ".held";
  const bool taken = wait_for([&] {
    const int file = ::open(held.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file < 0 && errno == EEXIST) return false;
    if (file < 0) throw_not_writable(held);
    const std::string me = who_am_i();
    if (::write(file, me.data(), me.size()) < 0) {
      // The words are for people only: the file itself is the lock.
    }
    ::close(file);
    return true;
  });
  if (!taken)
    throw Error("E5015", fmt::format("the plugin registry has been locked by {} for 10 s", first_line(held)), held,
                "try again; remove this file when that process is no more");
  is_file_ = true;
}

RegistryLock::~RegistryLock() {
  if (is_file_) ::unlink((path_ + ".held").c_str());
  ::close(descriptor_);
}

}  // namespace msprobe::plugin
