#include "plugin/process_state.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vector>

namespace msprobe::plugin {
namespace {

/// Rounding, flush-to-zero and exception masks; not the flags that any sum may raise.
std::uint64_t floating_point_mode() {
#if defined(__x86_64__)
  return __builtin_ia32_stmxcsr() & 0xffc0u;
#elif defined(__aarch64__)
  std::uint64_t mode;
  asm volatile("mrs %0, fpcr" : "=r"(mode));
  return mode;
#else
  return static_cast<std::uint64_t>(std::fegetround());
#endif
}

/// The directory and the locale that the process began with: of a plugin's making none is wanted, so the first look
/// holds for ever.
struct Home {
  int directory = ::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  struct stat identity {};
  std::string locale = std::setlocale(LC_ALL, nullptr);
  Home() {
    if (directory >= 0) ::fstat(directory, &identity);
  }
};

const Home& home() {
  static const Home first;
  return first;
}

}  // namespace

ProcessState::ProcessState() : floating_point_(floating_point_mode()), thread_locale_(::uselocale(nullptr)) {
  home();
  std::fegetenv(&environment_);
}

std::string ProcessState::put_back() const {
  std::vector<const char*> changed;
  if (floating_point_mode() != floating_point_) {
    std::fesetenv(&environment_);
    changed.push_back("the floating-point mode");
  }
  if (::uselocale(nullptr) != thread_locale_) {
    ::uselocale(thread_locale_);
    changed.push_back("the thread's locale");
  }
  if (home().locale != std::setlocale(LC_ALL, nullptr)) {
    std::setlocale(LC_ALL, home().locale.c_str());
    changed.push_back("the locale");
  }
  struct stat now {};
  if (home().directory >= 0 &&
      (::stat(".", &now) != 0 || now.st_ino != home().identity.st_ino || now.st_dev != home().identity.st_dev)) {
    if (::fchdir(home().directory) == 0) changed.push_back("the working directory");
  }
  return fmt::format("{}", fmt::join(changed, " and "));
}

}  // namespace msprobe::plugin
