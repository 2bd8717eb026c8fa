/// What runs in a worker process: loads the library, analyses the pairs that it is told, until the host closes the
/// socket.
#pragma once
#include <string>
#include <vector>

#include "dump/dump.h"
#include "engine/analysis.h"
#include "plugin/plugin_analysis.h"

namespace msprobe::plugin {

struct WorkerJob {
  const std::string& library;
  const std::string& analyzer;
  const OptionValues& options;
  std::uint64_t memory_bytes;
  const dump::Options& dump_options;
  const std::vector<engine::Planned>& plan;
  const std::vector<result::Row>& rows;
};

void run_worker_process(int socket, const WorkerJob& job);

}  // namespace msprobe::plugin
