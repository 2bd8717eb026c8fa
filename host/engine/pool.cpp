#include "engine/pool.h"

#include <system_error>
#include <thread>
#include <vector>

namespace msprobe::engine {

struct Pool::Job {
  Job(std::uint64_t parts, const std::function<void(unsigned, std::uint64_t)>& function)
      : count(parts), part(function) {}
  const std::uint64_t count;
  const std::function<void(unsigned, std::uint64_t)>& part;
  std::atomic<std::uint64_t> next{0};
  std::atomic<unsigned> inside{0};  ///< workers that may still call `part`
  std::exception_ptr failure;       // guarded by the pool's mutex
};

void Pool::run(std::uint64_t count, const std::function<void(unsigned, std::uint64_t)>& task,
               const std::function<bool()>& cancelled) {
  next_ = 0;
  stop_ = false;
  failure_ = nullptr;
  busy_ = workers_;
  {
    std::vector<std::jthread> threads;
    for (unsigned worker = 1; worker < workers_; ++worker) {
      try {
        threads.emplace_back([&, worker] { work(worker, count, task, cancelled); });
      } catch (const std::system_error&) {  // no further thread: those that there are do the work
        const std::lock_guard lock(mutex_);
        busy_ -= workers_ - worker;
        break;
      }
    }
    work(0, count, task, cancelled);
  }
  if (failure_) std::rethrow_exception(failure_);
}

void Pool::work(unsigned worker, std::uint64_t count, const std::function<void(unsigned, std::uint64_t)>& task,
                const std::function<bool()>& cancelled) {
  while (!stop_) {
    // Parts of a task that somebody waits for come before a new one: fewer large tensors are open at a time.
    if (const auto job = join_job()) {
      help(*job, worker);
      continue;
    }
    if (cancelled()) stop_ = true;
    if (stop_) break;
    const std::uint64_t index = next_.fetch_add(1);
    if (index >= count) break;
    try {
      task(worker, index);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      stop_ = true;
    }
  }
  std::unique_lock lock(mutex_);
  --busy_;
  changed_.notify_all();
  for (;;) {  // nothing left to begin: help those who are still at it
    changed_.wait(lock, [&] { return busy_ == 0 || !jobs_.empty(); });
    lock.unlock();
    const auto job = join_job();
    if (job) help(*job, worker);
    lock.lock();
    if (!job && busy_ == 0) return;
  }
}

/// A job with parts left, entered under the lock: `split` does not return while a worker is inside.
std::shared_ptr<Pool::Job> Pool::join_job() {
  const std::lock_guard lock(mutex_);
  while (!jobs_.empty()) {
    const auto job = jobs_.front();
    if (job->next.load() < job->count) {
      ++job->inside;
      return job;
    }
    jobs_.pop_front();
  }
  return nullptr;
}

void Pool::help(Job& job, unsigned worker) {
  for (;;) {
    const std::uint64_t index = job.next.fetch_add(1);
    if (index >= job.count) break;
    try {
      job.part(worker, index);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!job.failure) job.failure = std::current_exception();
      job.next = job.count;  // parts that nobody began are not needed any more
    }
  }
  const std::lock_guard lock(mutex_);
  --job.inside;
  changed_.notify_all();
}

void Pool::split(unsigned worker, std::uint64_t count, const std::function<void(unsigned, std::uint64_t)>& part) {
  if (workers_ == 1 || count == 1) {
    for (std::uint64_t index = 0; index < count; ++index) part(worker, index);
    return;
  }
  const auto job = std::make_shared<Job>(count, part);
  job->inside = 1;
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(job);
    changed_.notify_all();
  }
  help(*job, worker);
  std::unique_lock lock(mutex_);
  jobs_.remove(job);
  changed_.wait(lock, [&] { return job->inside == 0; });  // `part` lives on this stack
  if (job->failure) std::rethrow_exception(job->failure);
}

}  // namespace msprobe::engine
