#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "dump/gather.h"
#include "dump/window.h"
#include "support.h"

using namespace msprobe;
using namespace msprobe::dump;
using namespace msprobe::dump::test;

namespace {

/// element i of a file is i, as far as its dtype can say that.
std::string large_npy(const Folder& folder, std::size_t count) {
  std::vector<std::uint32_t> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<std::uint32_t>(i);
  return write(folder / "large.npy", npy("<u4", length(count), bytes_of(values)));
}

std::uint32_t at(const std::byte* view, std::size_t i) {
  std::uint32_t value;
  std::memcpy(&value, view + i * sizeof value, sizeof value);
  return value;
}

}  // namespace

TEST_CASE("view: shows the same as read, for views of all sizes, in order and out of order") {
  const Folder folder;
  constexpr std::size_t count = 3'000'000;
  const auto tensor = open_file(large_npy(folder, count));
  ViewBuffer buffer;
  for (const std::size_t step : {1'000UL, 4'096UL, 65'536UL, 1'000'003UL})
    for (std::size_t first = 0; first < count; first += step) {
      const std::size_t n = std::min(step, count - first);
      const std::byte* view = tensor->view(first, n, buffer);
      REQUIRE(at(view, 0) == first);
      REQUIRE(at(view, n - 1) == first + n - 1);
      REQUIRE_NOTHROW(buffer.check());
    }
  for (const std::size_t first : {2'999'000UL, 5UL, 1'500'000UL, 1'400'000UL, 1'400'001UL, 0UL}) {
    const std::byte* view = tensor->view(first, 1'000, buffer);
    REQUIRE(at(view, 0) == first);
    REQUIRE(at(view, 999) == first + 999);
  }
}

TEST_CASE("view: two tensors take turns in one buffer") {
  const Folder folder, other;
  const auto a = open_file(large_npy(folder, 100'000));
  const auto b = open_file(write(other / "b.npy", npy_f32({1, 2, 3})));
  ViewBuffer buffer;
  for (std::size_t first = 0; first + 10'000 <= 100'000; first += 10'000) {
    CHECK(at(a->view(first, 10'000, buffer), 0) == first);
    float value;
    std::memcpy(&value, b->view(1, 2, buffer), 4);
    CHECK(value == 2.0F);
  }
}

TEST_CASE("view: outside the tensor is a mistake of the caller") {
  const Folder folder;
  const auto tensor = open_file(write(folder / "x.npy", npy_f32({1, 2, 3})));
  ViewBuffer buffer;
  CHECK_THROWS(tensor->view(2, 2, buffer));
  CHECK_THROWS(tensor->view(~0ULL, 2, buffer));
  float out[4];
  CHECK_THROWS(tensor->read(1, 3, out));
}

TEST_CASE("view: elements at odd places in the file are copied to where they may be read") {
  const Folder folder;
  const auto tensor =
      open_file(write(folder / "x.npy", npy_raw("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }  ",
                                                bytes_of(std::vector<double>{1, 2}))));
  ViewBuffer buffer;
  const std::byte* view = tensor->view(0, 2, buffer);
  CHECK(reinterpret_cast<std::uintptr_t>(view) % 8 == 0);
  double value;
  std::memcpy(&value, view + 8, 8);
  CHECK(value == 2.0);
}

TEST_CASE("view: a large big-endian tensor in Fortran order") {
  const Folder folder;
  constexpr std::size_t rows = 700, columns = 900;
  std::string bytes;
  for (std::size_t c = 0; c < columns; ++c)
    for (std::size_t r = 0; r < rows; ++r) {
      const std::uint32_t value = __builtin_bswap32(static_cast<std::uint32_t>(r * columns + c));
      bytes.append(reinterpret_cast<const char*>(&value), 4);
    }
  const auto tensor = open_file(write(folder / "x.npy", npy(">u4", "(700, 900)", bytes, true)));
  ViewBuffer buffer;
  for (std::size_t first = 0; first < rows * columns; first += 65'536) {
    const std::size_t n = std::min<std::size_t>(65'536, rows * columns - first);
    const std::byte* view = tensor->view(first, n, buffer);
    for (std::size_t i = 0; i < n; ++i) REQUIRE(at(view, i) == first + i);
  }
}

TEST_CASE("gather: any strides and any range give what element by element gives") {
  std::uint32_t state = 12345;
  const auto random = [&](std::uint32_t below) {
    state = state * 1664525 + 1013904223;
    return (state >> 8) % below;
  };
  for (int round = 0; round < 400; ++round) {
    const std::size_t rank = random(5);
    std::vector<std::int64_t> shape(rank), strides(rank);
    std::vector<std::size_t> order(rank);
    for (std::size_t d = 0; d < rank; ++d) {
      shape[d] = 1 + random(rank < 3 ? 90 : 12);
      order[d] = d;
    }
    for (std::size_t d = rank; d > 1; --d) std::swap(order[d - 1], order[random(static_cast<std::uint32_t>(d))]);
    // A permuted dense tensor, with gaps or repeats now and then.
    std::int64_t step = 1 + random(2);
    for (const std::size_t d : order) {
      strides[d] = random(12) == 0 ? 0 : step;
      step *= shape[d] + random(2);
    }
    std::uint64_t count = 1, span = 1;
    for (std::size_t d = 0; d < rank; ++d) {
      count *= static_cast<std::uint64_t>(shape[d]);
      span += static_cast<std::uint64_t>((shape[d] - 1) * strides[d]);
    }
    std::vector<std::uint16_t> source(span);
    for (std::size_t i = 0; i < span; ++i) source[i] = static_cast<std::uint16_t>(i * 31);
    const std::uint64_t first = random(static_cast<std::uint32_t>(count)),
                        n = 1 + random(static_cast<std::uint32_t>(count - first));
    std::vector<std::uint16_t> out(n);
    gather(simplify(shape, strides), 2, reinterpret_cast<const std::byte*>(source.data()), first, n,
           reinterpret_cast<std::byte*>(out.data()), [](std::size_t) {});
    for (std::uint64_t i = 0; i < n; ++i) {
      std::uint64_t rest = first + i, offset = 0;
      for (std::size_t d = rank; d-- > 0;) {
        offset += rest % static_cast<std::uint64_t>(shape[d]) * static_cast<std::uint64_t>(strides[d]);
        rest /= static_cast<std::uint64_t>(shape[d]);
      }
      REQUIRE(out[i] == source[offset]);
    }
  }
}

TEST_CASE("cut short: a mapped view that loses its file shows zeros and check() says so") {
  const Folder folder;
  const std::string path = large_npy(folder, 1'000'000);
  const auto tensor = open_file(path);
  ViewBuffer buffer;
  const std::byte* view = tensor->view(0, 1'000'000, buffer);
  CHECK_NOTHROW(buffer.check());
  fs::resize_file(path, 100'000);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < 1'000'000; ++i) sum += at(view, i);
  CHECK(sum < 1'000'000ULL * 500'000);
  CHECK(code_of([&] { buffer.check(); }) == "E4012");
  // The buffer lives on.
  const auto other = open_file(write(folder / "b.npy", npy_f32({1, 2})));
  other->view(0, 2, buffer);
  CHECK_NOTHROW(buffer.check());
  std::vector<std::uint32_t> out(1'000'000);
  CHECK(code_of([&] { tensor->read(0, 1'000'000, out.data()); }) == "E4012");
}

TEST_CASE("cut short: within the last page, where no signal comes, check() says so as well") {
  const Folder folder;
  const std::string path = large_npy(folder, 500'000);
  const auto tensor = open_file(path);
  ViewBuffer buffer;
  tensor->view(0, 500'000, buffer);
  fs::resize_file(path, fs::file_size(path) - 4);
  CHECK(code_of([&] { buffer.check(); }) == "E4012");
}

TEST_CASE("cut short: a strided tensor that loses its file is an error") {
  const Folder folder;
  const std::string path = write(folder / "x.npy", npy("<f4", "(300, 400)", std::string(480'000, '\1'), true));
  const auto tensor = open_file(path);
  fs::resize_file(path, 5'000);
  ViewBuffer buffer;
  CHECK(code_of([&] { tensor->view(0, 120'000, buffer); }) == "E4012");
}

TEST_CASE("cut short: files shrink under many threads and nothing dies") {
  const Folder folder;
  const std::string path = large_npy(folder, 2'000'000);
  std::atomic<int> errors{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      ViewBuffer buffer;
      for (int round = 0; round < 200; ++round) {
        try {
          const auto tensor = open_file(path);
          std::uint64_t sum = 0;
          for (std::size_t first = 0; first < 2'000'000; first += 100'000) {
            const std::byte* view = tensor->view(first, 100'000, buffer);
            for (std::size_t i = 0; i < 100'000; i += 512) sum += at(view, i);
            buffer.check();
          }
          if (sum == 1) ++errors;  // keeps the loop
        } catch (const Error&) {
          ++errors;
        }
      }
    });
  const auto full = fs::file_size(path);
  for (int round = 0; round < 100; ++round) {
    fs::resize_file(path, 4'000 + static_cast<std::uintmax_t>(round) * 1'000);
    fs::resize_file(path, full);
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(errors >= 0);
}

// The sanitizers bring a handler of their own, which is not the one that this is about.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("SIGBUS: one that is not ours goes to the handler that was there before") {
  const Folder folder;
  const std::string path = write(folder / "foreign", std::string(8192, 'x'));
  const pid_t child = ::fork();
  if (child == 0) {
    // A fresh program state is not needed: without a former handler the default action must end the process.
    const int descriptor = ::open(path.c_str(), O_RDONLY);
    auto* foreign = static_cast<const volatile char*>(::mmap(nullptr, 8192, PROT_READ, MAP_SHARED, descriptor, 0));
    Window window;
    window.map(descriptor, 0, 4096, true);
    fs::resize_file(path, 4096);
    const char lost = foreign[5000];
    ::_exit(lost == 'x' ? 1 : 2);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  // doctest has no SIGBUS handler of its own on Linux: the default action ends the child.
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGBUS);
}
#endif

TEST_CASE("memory: reading a large file keeps little of it") {
  const Folder folder;
  const std::string head = npy("|u1", "(100000000,)", "");
  const std::string path = write(folder / "x.npy", head);
  fs::resize_file(path, head.size() + 100'000'000);
  const auto tensor = open_file(path);
  const auto resident = [] {
    std::ifstream statm("/proc/self/statm");
    std::size_t size = 0, pages = 0;
    statm >> size >> pages;
    return pages * 4096;
  };
  const std::size_t before = resident();
  std::size_t most = 0;
  ViewBuffer buffer;
  for (std::size_t first = 0; first < 100'000'000; first += 1'000'000) {
    tensor->view(first, 1'000'000, buffer);
    most = std::max(most, resident());
  }
  CHECK(most < before + 16 * 1024 * 1024);
}
