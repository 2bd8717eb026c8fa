/// What the engine runs over all pairs: one analyzer, whatever it is made of.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "engine/result.h"
#include "msprobe/analyzer.h"
#include "pair/pair.h"

namespace msprobe::engine {

class Worker;

/// A pair with all that is known before the run. Both sides are there when `skip` is empty.
struct Planned {
  std::uint64_t index = 0;
  const dump::Tensor* side[2] = {nullptr, nullptr};
  dump::Kind kind = dump::Kind::tensor;  ///< what can be judged: the poorer of the two sides
  msp_dtype noise_dtype = MSP_DTYPE_NONE;
  double threshold;              ///< NaN: auto
  std::string threshold_source;  ///< "--error-threshold"
};

class Analysis {
 public:
  virtual ~Analysis() = default;
  virtual std::string mode() const = 0;
  virtual bool accepts(dump::Kind kind) const = 0;
  virtual bool parallel() const = 0;
  /// Columns of the report so far; more may come while it runs.
  virtual std::vector<result::Column> columns() const = 0;
  virtual void begin(const std::vector<Planned>& plan, const std::vector<result::Row>& rows) = 0;
  /// Fills verdict, why, error, threshold and metrics of the row. Called on many threads when parallel(). Must not
  /// throw but Error (the row then gets verdict error).
  virtual void analyze(Worker& worker, const Planned& planned, result::Row& row) = 0;
  virtual void finish(std::vector<result::Row>& rows, std::vector<result::Finding>& findings) = 0;
};

}  // namespace msprobe::engine
