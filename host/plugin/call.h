/// The token of a running callback: what the plugin may touch, and what it has said.
#pragma once
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "dump/data.h"
#include "engine/analysis.h"
#include "engine/worker.h"
#include "plugin/plugin_analysis.h"

/// One per worker, used again for each callback on it. Functions of the host refuse it outside of a callback and on
/// other threads.
struct msp_call {
  explicit msp_call(msprobe::plugin::PluginAnalysis& owner) : analysis(owner) {}
  msp_call(const msp_call&) = delete;
  msp_call& operator=(const msp_call&) = delete;

  msprobe::plugin::PluginAnalysis& analysis;
  std::atomic<std::thread::id> thread{};      ///< of the running callback; none: it has returned
  msprobe::engine::Worker* worker = nullptr;  ///< in analyze_pair
  msprobe::result::Row* row = nullptr;        ///< in analyze_pair

  msp_status failed = MSP_OK;
  std::string why;                      ///< what fail() said
  std::optional<msprobe::Error> error;  ///< what a service of the host ran into
  bool cancelled = false;

  /// Facts of pairs that the plugin has asked for; they live until the callback returns.
  struct Facts {
    std::array<msp_tensor, 2> side{};
    msp_pair pair{};
  };
  std::vector<std::unique_ptr<Facts>> facts;
  std::vector<std::unique_ptr<std::byte[]>> scratch;

  /// Tensors opened in this callback.
  struct Opened {
    const msprobe::dump::Tensor* tensor;
    std::unique_ptr<msprobe::dump::Data> data;
  };
  std::vector<Opened> opened;

  struct Blocks {
    std::uint64_t pair_index = 0, next = 0;
    std::array<const msprobe::dump::Data*, 2> data{};
    bool active = false;
  } blocks;
  std::array<msprobe::dump::ViewBuffer, 2> block_buffers;

  void enter(msprobe::engine::Worker* on, msprobe::result::Row* of);
  void leave();

  const msp_pair* facts_of(const msprobe::engine::Planned& planned);
  /// The catalogued tensor behind facts that this callback was given; nullptr: foreign.
  const msprobe::dump::Tensor* tensor_of(const msp_tensor* tensor) const;
  const msprobe::engine::Planned* planned_of(const msp_pair* pair) const;
  const msprobe::dump::Data& open(const msprobe::dump::Tensor& tensor, int side);
};

namespace msprobe::plugin {
/// The functions that every plugin gets.
msp_host make_host_table();
}  // namespace msprobe::plugin
