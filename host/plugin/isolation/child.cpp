#include "plugin/isolation/child.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

namespace msprobe::plugin {
namespace {

/// Address space in use, from /proc/self/statm; 0 when it cannot be told.
std::uint64_t address_space() {
  std::uint64_t pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%lu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

std::string ending_text(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    return fmt::format("crashed (signal {}, {})", signal, ::strsignal(signal));
  }
  return fmt::format("ended the process (exit code {})", WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1);
}

void restrict_child(pid_t parent, std::uint64_t memory_bytes) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);  // it died before it was asked for
  ::dup2(STDERR_FILENO, STDOUT_FILENO);   // what a plugin prints must not get into a report on stdout
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_DFL);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  limit_memory(memory_bytes);
}

void limit_memory(std::uint64_t bytes) {
  if (bytes == 0) return;
  const rlim_t most = address_space() + bytes;
  const rlimit memory{most, most};
  ::setrlimit(RLIMIT_AS, &memory);
}

int end_child(pid_t child) {
  ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

int reap_child(pid_t child) {
  for (int i = 0; i < 100; ++i) {
    int status = 0;
    if (::waitpid(child, &status, WNOHANG) == child) return status;
    ::usleep(10'000);
  }
  return end_child(child);
}

}  // namespace msprobe::plugin
