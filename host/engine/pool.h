/// Worker threads that take tasks in order, and help each other with the parts of a large one.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>

namespace msprobe::engine {

class Pool {
 public:
  explicit Pool(unsigned workers) : workers_(workers == 0 ? 1 : workers) {}

  unsigned workers() const { return workers_; }

  /// Calls task(worker, index) for each index in [0, count), each once, begun in order; returns when all are done.
  /// Stops to begin tasks when `cancelled` says so. The first exception that leaves a task ends the run and is thrown
  /// again here.
  void run(std::uint64_t count, const std::function<void(unsigned worker, std::uint64_t index)>& task,
           const std::function<bool()>& cancelled);

  /// Within a task: calls part(worker, index) for each index in [0, count), on this thread and on workers that have
  /// nothing better to do. Returns when all are done; the first exception is thrown again here, after the others have
  /// ended.
  void split(unsigned worker, std::uint64_t count,
             const std::function<void(unsigned worker, std::uint64_t index)>& part);

 private:
  struct Job;
  void work(unsigned worker, std::uint64_t count, const std::function<void(unsigned, std::uint64_t)>& task,
            const std::function<bool()>& cancelled);
  void help(Job& job, unsigned worker);
  std::shared_ptr<Job> join_job();

  unsigned workers_;
  std::atomic<std::uint64_t> next_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::list<std::shared_ptr<Job>> jobs_;
  unsigned busy_ = 0;  ///< workers inside a task: they may still open jobs
  std::exception_ptr failure_;
};

}  // namespace msprobe::engine
