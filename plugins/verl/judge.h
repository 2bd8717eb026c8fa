/// How each kind of row is judged.
#pragma once
#include <optional>
#include <string>

#include "msprobe/analyzer.hpp"
#include "msprobe/dtype.hpp"

namespace verl {

enum class NanPolicy { equal, warn, fail };

struct Settings {
  NanPolicy nan = NanPolicy::warn;
  bool exact = false;
  bool reshape = false;
  msp_diff_options diff{};  ///< auto_threshold is set by row
};

/// Throws msprobe::Failure for values that mean nothing.
Settings read_settings(const msprobe::Call& call);

/// Gathers what is wrong with a row; a failure outweighs warnings.
class Judgement {
 public:
  void fail(const std::string& why) { add(fails_, why); }
  void warn(const std::string& why) { add(warnings_, why); }
  std::int32_t verdict() const { return !fails_.empty() ? MSP_FAIL : !warnings_.empty() ? MSP_WARN : MSP_PASS; }
  const std::string& why() const { return !fails_.empty() ? fails_ : warnings_; }

 private:
  static void add(std::string& list, const std::string& why) { list += (list.empty() ? "" : "; ") + why; }
  std::string fails_, warnings_;
};

/// What the row's error is held against: what the user gave, else 0 for integers, else by the coarsest dtype upstream.
double threshold_of(const msp_pair& pair);
/// True where one side is integer and the other float, or one complex and the other real.
bool dtype_classes_differ(const msp_pair& pair);
std::string number(double value);
/// "1 element", "3 elements".
std::string elements(std::int64_t count);

void judge_tensor(const msprobe::Call& call, const msp_pair& pair, const Settings& settings);
void judge_statistics(const msprobe::Call& call, const msp_pair& pair, const Settings& settings);
void judge_checksum(const msprobe::Call& call, const msp_pair& pair);
void judge_scalar(const msprobe::Call& call, const msp_pair& pair);

}  // namespace verl
