#include "dump/window.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>

namespace msprobe::dump {
namespace {

// The handler may only look at memory that is always there, so windows are registered in a fixed table. Two windows per
// worker are usual; whoever finds the table full reads without mapping.
struct Slot {
  std::atomic<bool> used{false};
  std::atomic<bool> hit{false};
  std::atomic<std::uintptr_t> begin{0}, end{0};
};
constexpr int slot_count = 4096;
std::array<Slot, slot_count> slots;
std::atomic<int> slots_in_use_below{0};
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free);

struct sigaction former;
std::uintptr_t page_size = 4096;

void pass_on(int signal, siginfo_t* info, void* context) {
  if ((former.sa_flags & SA_SIGINFO) && former.sa_sigaction) {
    former.sa_sigaction(signal, info, context);
  } else if (former.sa_handler != SIG_DFL && former.sa_handler != SIG_IGN) {
    former.sa_handler(signal);
  } else {
    // Back to the default: the instruction runs again and the process ends as it would have without us.
    struct sigaction standard = {};
    standard.sa_handler = SIG_DFL;
    ::sigaction(SIGBUS, &standard, nullptr);
  }
}

void on_bus_error(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const int below = slots_in_use_below.load(std::memory_order_acquire);
  for (int i = 0; i < below; ++i) {
    Slot& slot = slots[static_cast<std::size_t>(i)];
    const std::uintptr_t begin = slot.begin.load(std::memory_order_acquire);
    const std::uintptr_t end = slot.end.load(std::memory_order_acquire);
    if (begin == 0 || address < begin || address >= end) continue;
    // All that follows is gone as well; one mapping instead of a fault per page.
    const std::uintptr_t page = address & ~(page_size - 1);
    void* zeros =
        ::mmap(reinterpret_cast<void*>(page), end - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (zeros == MAP_FAILED) break;
    slot.hit.store(true, std::memory_order_release);
    errno = saved_errno;
    return;
  }
  errno = saved_errno;
  pass_on(signal, info, context);
}

void install() {
  static std::once_flag once;
  std::call_once(once, [] {
    page_size = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    struct sigaction action = {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGBUS, &action, &former);
  });
}

int take_slot() {
  thread_local int hint = 0;
  for (int i = 0; i < slot_count; ++i) {
    const int candidate = (hint + i) % slot_count;
    Slot& slot = slots[static_cast<std::size_t>(candidate)];
    bool expected = false;
    if (slot.used.load(std::memory_order_relaxed) || !slot.used.compare_exchange_strong(expected, true)) continue;
    hint = candidate;
    int below = slots_in_use_below.load();
    while (below <= candidate && !slots_in_use_below.compare_exchange_weak(below, candidate + 1)) {
    }
    return candidate;
  }
  return -1;
}

}  // namespace

Window::~Window() {
  unmap();
  if (slot_ >= 0) slots[static_cast<std::size_t>(slot_)].used.store(false, std::memory_order_release);
}

bool Window::map(int descriptor, std::uint64_t offset, std::size_t bytes, bool sequential) {
  unmap();
  if (bytes == 0) return false;
  install();
  if (slot_ < 0 && (slot_ = take_slot()) < 0) return false;
  const std::uint64_t lead = offset & (page_size - 1);
  const std::size_t length = (static_cast<std::size_t>(lead) + bytes + page_size - 1) & ~(page_size - 1);
  // Not MAP_POPULATE: it looks up page after page, where a fault brings in sixteen. Seen: 12.2 against 8.6 GB/s per
  // core.
  void* start = ::mmap(nullptr, length, PROT_READ, MAP_SHARED, descriptor, static_cast<off_t>(offset - lead));
  if (start == MAP_FAILED) return false;
  if (sequential) ::madvise(start, length, MADV_SEQUENTIAL);
  start_ = start;
  length_ = length;
  data_ = static_cast<const std::byte*>(start) + lead;
  Slot& slot = slots[static_cast<std::size_t>(slot_)];
  slot.hit.store(false, std::memory_order_relaxed);
  slot.end.store(reinterpret_cast<std::uintptr_t>(start) + length, std::memory_order_release);
  slot.begin.store(reinterpret_cast<std::uintptr_t>(start), std::memory_order_release);
  return true;
}

void Window::unmap() {
  if (!start_) return;
  slots[static_cast<std::size_t>(slot_)].begin.store(0, std::memory_order_release);
  ::munmap(start_, length_);
  start_ = nullptr;
  data_ = nullptr;
  length_ = 0;
}

bool Window::cut_short() const {
  return start_ && slots[static_cast<std::size_t>(slot_)].hit.load(std::memory_order_acquire);
}

void Window::release_pages() {
  if (start_) ::madvise(start_, length_, MADV_DONTNEED);
}

}  // namespace msprobe::dump
