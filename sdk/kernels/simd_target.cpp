/// What this machine can run, and which of it is used.
#include <string_view>
#include <vector>

#include "diff.h"
#include "simd_dispatch.h"

#if HWY_ARCH_X86
#include <cpuid.h>
#endif

namespace msprobe::kernels {

constinit std::atomic<std::size_t> simd_target_index{0};

namespace {

#if HWY_ARCH_X86
/// Not among the names that every compiler's __builtin_cpu_supports knows. The system side of it is that of AVX.
bool has_f16c() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}

/// What the target attributes of hwy/ops/set_macros-inl.h ask for.
std::int64_t machine_targets() {
  std::int64_t targets = 0;
  if (!__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("pclmul") || !__builtin_cpu_supports("aes"))
    return targets;
  targets |= HWY_SSE4;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi") ||
      !__builtin_cpu_supports("bmi2") || !has_f16c())
    return targets;
  targets |= HWY_AVX2;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
    targets |= HWY_AVX3;
  return targets;
}
#else
/// Where vectors are part of the architecture (NEON of aarch64) the compiler knows them without asking.
std::int64_t machine_targets() {
  return HWY_STATIC_TARGET;
}
#endif

std::vector<std::int64_t> find_targets() {
  std::vector<std::int64_t> found;
  for (std::int64_t rest = supported_simd_targets(); rest != 0; rest &= rest - 1) found.push_back(rest & -rest);
  return found;
}

const std::vector<std::int64_t>& targets() {
  static const std::vector<std::int64_t> found = find_targets();
  return found;
}

}  // namespace

std::int64_t supported_simd_targets() {
  return (machine_targets() | HWY_STATIC_TARGET | HWY_EMU128 | HWY_SCALAR) & HWY_TARGETS;
}

std::size_t use_simd_targets(std::int64_t targets) {
  // A bit for each entry of a table, the fallback last.
  const std::int64_t entries = HWY_CHOSEN_TARGET_SHIFT(targets) | HWY_CHOSEN_TARGET_MASK_SCALAR;
  const auto index = static_cast<std::size_t>(__builtin_ctzll(static_cast<unsigned long long>(entries)));
  simd_target_index.store(index, std::memory_order_relaxed);
  return index;
}

std::span<const char* const> simd_targets() {
  static const std::vector<const char*> names = [] {
    std::vector<const char*> made;
    for (const std::int64_t target : targets()) made.push_back(hwy::TargetName(target));
    return made;
  }();
  return names;
}

bool force_simd_target(const char* name) {
  std::int64_t wanted = name == nullptr ? supported_simd_targets() : 0;
  for (const std::int64_t target : targets())
    if (name != nullptr && std::string_view(hwy::TargetName(target)) == name) wanted = target;
  if (wanted == 0) return false;
  use_simd_targets(wanted);
  return true;
}

}  // namespace msprobe::kernels
