/// Pairs of tensors that an analyzer must stand: made in a folder that goes away again.
#pragma once
#include <filesystem>

namespace msprobe::plugin {

/// Raw tensors of every dtype in shapes from 0-d and empty to more than one block, with NaN, infinities and subnormal
/// numbers, sides of different shapes and dtypes, and equal sides. The same bytes each time.
class GeneratedPairs {
 public:
  /// Throws Error E1001 or E1002 when they cannot be written.
  GeneratedPairs();
  GeneratedPairs(const GeneratedPairs&) = delete;
  GeneratedPairs& operator=(const GeneratedPairs&) = delete;
  ~GeneratedPairs();

  std::filesystem::path reference() const { return folder_ / "reference"; }
  std::filesystem::path target() const { return folder_ / "target"; }

 private:
  std::filesystem::path folder_;
};

}  // namespace msprobe::plugin
