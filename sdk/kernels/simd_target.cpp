#include <cstdint>
#include <string_view>
#include <vector>

#include "diff.h"
#include "simd_config.h"
//
#include "hwy/highway.h"

namespace msprobe::kernels {
namespace {

/// Targets that are built and that this machine has, best first: lower bits of Highway's masks are better.
std::vector<std::int64_t> find_targets() {
  std::vector<std::int64_t> found;
  hwy::SetSupportedTargetsForTest(0);
  for (std::int64_t rest = hwy::SupportedTargets() & HWY_TARGETS; rest != 0; rest &= rest - 1)
    found.push_back(rest & -rest);
  return found;
}

const std::vector<std::int64_t>& targets() {
  static const std::vector<std::int64_t> found = find_targets();
  return found;
}

}  // namespace

std::span<const char* const> simd_targets() {
  static const std::vector<const char*> names = [] {
    std::vector<const char*> made;
    for (const std::int64_t target : targets()) made.push_back(hwy::TargetName(target));
    return made;
  }();
  return names;
}

bool force_simd_target(const char* name) {
  std::int64_t mask = 0;  // no mock: the best
  for (const std::int64_t target : targets())
    if (name != nullptr && std::string_view(hwy::TargetName(target)) == name) mask = target;
  if (name != nullptr && mask == 0) return false;
  hwy::SetSupportedTargetsForTest(mask);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  return true;
}

}  // namespace msprobe::kernels
