/// The status line of a run: a bar of rows, what failed so far, and how much was read.
#pragma once
#include <atomic>
#include <cstdint>
#include <thread>

namespace msprobe::engine {

class Progress {
 public:
  /// Redraws ten times a second while it lives, when `active`. `bytes` must outlive it.
  Progress(bool active, std::uint64_t rows, const std::atomic<std::uint64_t>& bytes);
  ~Progress();

  void row_done(bool row_failed) {
    ++done_;
    failed_ += row_failed;
  }

 private:
  void draw() const;

  const std::uint64_t rows_;
  const std::atomic<std::uint64_t>& bytes_;
  std::atomic<std::uint64_t> done_{0}, failed_{0};
  std::jthread drawer_;
};

}  // namespace msprobe::engine
