#include "engine/pool.h"

#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

using msprobe::engine::Pool;

namespace {
const std::function<bool()> never = [] { return false; };
}

TEST_CASE("every task runs exactly once, whatever the number of workers") {
  for (const unsigned workers : {1u, 2u, 7u}) {
    std::vector<std::atomic<int>> done(1000);
    Pool(workers).run(
        done.size(), [&](unsigned, std::uint64_t i) { ++done[i]; }, never);
    for (const auto& count : done) CHECK(count == 1);
  }
}

TEST_CASE("parts of many tasks at once run exactly once, each on a worker of its own number") {
  for (const unsigned workers : {1u, 2u, 5u}) {
    Pool pool(workers);
    std::vector<std::atomic<int>> inside(workers);
    std::atomic<int> collisions{0}, parts{0};
    pool.run(
        40,
        [&](unsigned worker, std::uint64_t) {
          pool.split(worker, 25, [&](unsigned helper, std::uint64_t) {
            if (++inside[helper] > 1) ++collisions;
            ++parts;
            --inside[helper];
          });
        },
        never);
    CHECK(parts == 40 * 25);
    CHECK(collisions == 0);
  }
}

TEST_CASE("an exception of a part reaches its task after the other parts have ended") {
  Pool pool(4);
  std::atomic<int> running{0};
  bool caught = false;
  pool.run(
      1,
      [&](unsigned worker, std::uint64_t) {
        try {
          pool.split(worker, 100, [&](unsigned, std::uint64_t i) {
            ++running;
            if (i == 7) {
              --running;
              throw std::runtime_error("part 7");
            }
            --running;
          });
        } catch (const std::runtime_error&) {
          caught = running == 0;
        }
      },
      never);
  CHECK(caught);
}

TEST_CASE("an exception of a task ends the run and is thrown again") {
  Pool pool(3);
  CHECK_THROWS_AS(pool.run(
                      100,
                      [](unsigned, std::uint64_t i) {
                        if (i == 5) throw std::runtime_error("task 5");
                      },
                      never),
                  std::runtime_error);
}

TEST_CASE("a cancelled run begins no further task") {
  std::atomic<int> begun{0};
  Pool(2).run(
      1000, [&](unsigned, std::uint64_t) { ++begun; }, [&] { return begun >= 10; });
  CHECK(begun >= 10);
  CHECK(begun < 20);
}
