// Throughput of the kernels in GB/s, counting the bytes of both sides; best of five runs. One thread is timed by the
// CPU time it used, so that neighbours on a shared machine count less.
//   bench_kernels [MiB per side, default 64] [threads, default 1] [dtype: only pairs that have it]
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string_view>
#include <thread>
#include <vector>

#include "diff.h"
#include "msprobe/dtype.hpp"
#include "statistics.h"

namespace {

using namespace msprobe;
using namespace msprobe::kernels;

enum class Shape { equal, noise, relu, noise_relu, outliers, far, masked };
constexpr const char* shape_names[] = {"equal", "noise", "relu", "noise+relu", "outliers", "2x", "-inf mask"};

/// f32 to 16 bits of the same sign and exponent range; rounding does not matter here.
std::uint16_t to_bf16(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, 4);
  return static_cast<std::uint16_t>((bits + 0x8000u) >> 16);
}
std::uint16_t to_f16(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, 4);
  const std::uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude >= 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {
    return static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(std::nearbyint(std::fabs(x) * 0x1p24f)));
  }
  return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000u + 0x1000u) >> 13));
}

/// Exponents of the same width, rebased from f16 by 8; values here are far from the format's ends.
std::uint8_t to_e4m3(float x) {
  const std::uint16_t half = to_f16(std::clamp(x, -448.0f, 448.0f) * 0x1p-8f);
  return static_cast<std::uint8_t>((half >> 8 & 0x80) | ((half & 0x7fff) >> 7));
}

void store(msp_dtype dtype, float x, unsigned char* out) {
  const double wide = static_cast<double>(x);
  const std::uint16_t half = dtype == MSP_BF16 ? to_bf16(x) : to_f16(x);
  const auto integer = static_cast<std::int32_t>(std::clamp(wide * 1000, -1e6, 1e6));
  const auto byte = static_cast<std::uint8_t>(half >> 8);
  switch (dtype) {
    case MSP_F64:
      std::memcpy(out, &wide, 8);
      break;
    case MSP_F32:
      std::memcpy(out, &x, 4);
      break;
    case MSP_I32:
      std::memcpy(out, &integer, 4);
      break;
    case MSP_F8E5M2:
      *out = byte;
      break;
    case MSP_F8E4M3FN:
      *out = to_e4m3(x);
      break;
    case MSP_I64: {
      const std::int64_t long_integer = integer;
      std::memcpy(out, &long_integer, 8);
      break;
    }
    default:
      std::memcpy(out, &half, 2);
  }
}

std::vector<unsigned char> fill(msp_dtype dtype, std::uint64_t count, Shape shape, bool target, float noise) {
  // Complex elements are two parts of the same kind.
  if (dtype == MSP_C64) return fill(MSP_F32, 2 * count, shape, target, noise);
  if (dtype == MSP_C128) return fill(MSP_F64, 2 * count, shape, target, noise);
  const std::uint64_t size = dtype_info(dtype)->bytes;
  std::vector<unsigned char> bytes(count * size);
  std::mt19937_64 values(1), errors(2);
  std::normal_distribution<float> normal;
  for (std::uint64_t i = 0; i < count; ++i) {
    float x = normal(values);
    const float e = normal(errors) * noise;
    const bool dead = x < 0;
    if (shape == Shape::relu || shape == Shape::noise_relu) x = dead ? 0.0f : x;
    if (shape == Shape::masked && i / 64 % 2) x = -INFINITY;
    if (target) {
      if (shape == Shape::noise || shape == Shape::masked) x += x * e;
      if (shape == Shape::relu) x += x * e;
      if (shape == Shape::noise_relu) x += e;
      if (shape == Shape::outliers) x += e * 1000 + 0.2f * normal(errors);
      if (shape == Shape::far) x = 2 * (x + x * e);
    }
    store(dtype, x, bytes.data() + i * size);
  }
  return bytes;
}

double now(int threads) {
  timespec time{};
  clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double seconds(int threads, const std::function<void()>& work) {
  double best = INFINITY;
  for (int i = 0; i < 5; ++i) {
    const double start = now(threads);
    work();
    best = std::min(best, now(threads) - start);
  }
  return best;
}

void diff_all(const DiffPlan& plan, const unsigned char* r, const unsigned char* t, std::uint64_t count, int threads) {
  const std::uint64_t r_size = dtype_info(plan.reference)->bytes, t_size = dtype_info(plan.target)->bytes;
  std::vector<DiffPartial> parts((count + segment_elements - 1) / segment_elements);
  const auto work = [&](std::size_t worker) {
    for (std::size_t i = worker; i < parts.size(); i += static_cast<std::size_t>(threads)) {
      const std::uint64_t first = i * segment_elements;
      parts[i].add(plan, r + first * r_size, t + first * t_size, first, std::min(segment_elements, count - first));
    }
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(work, static_cast<std::size_t>(i));
  work(0);
  for (std::thread& other : others) other.join();
  DiffPartial all;
  for (const DiffPartial& part : parts) all.combine(part);
  msp_diff_result result{};
  result.struct_size = sizeof(result);
  all.finish(plan, result);
}

void bench_pair(msp_dtype ref, msp_dtype target, std::uint64_t bytes_a_side, int threads) {
  const std::uint64_t count = bytes_a_side / std::max(dtype_info(ref)->bytes, dtype_info(target)->bytes);
  std::printf("%-5s %-7s", dtype_name(ref).data(), dtype_name(target).data());
  for (const Shape shape :
       {Shape::equal, Shape::noise, Shape::relu, Shape::noise_relu, Shape::outliers, Shape::far, Shape::masked}) {
    const double u = std::max(dtype_info(ref)->unit_roundoff, dtype_info(target)->unit_roundoff);
    const auto noise = static_cast<float>(std::max(2 * u, 1e-6));
    const auto r = fill(ref, count, shape, false, noise), t = fill(target, count, shape, true, noise);
    DiffPlan plan{};
    plan.reference = ref;
    plan.target = target;
    plan.options.struct_size = sizeof(plan.options);
    plan.options.auto_threshold = auto_threshold(coarser_float(ref, target));
    const double time = seconds(threads, [&] { diff_all(plan, r.data(), t.data(), count, threads); });
    std::printf(" %10.2f", static_cast<double>(r.size() + t.size()) / time / 1e9);
    std::fflush(stdout);
  }
  std::printf("\n");
}

void bench_statistics(msp_dtype dtype, std::uint64_t bytes) {
  const auto data = fill(dtype, bytes / dtype_info(dtype)->bytes, Shape::noise, false, 0);
  const double time = seconds(1, [&] {
    StatisticsPartial partial;
    partial.add(dtype, data.data(), data.size() / dtype_info(dtype)->bytes);
    double stats[MSP_STAT_COUNT];
    partial.finish(stats);
  });
  std::printf("statistics %-7s %6.1f\n", dtype_name(dtype).data(), static_cast<double>(data.size()) / time / 1e9);
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t bytes = (argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 64) << 20;
  const int threads = argc > 2 ? std::atoi(argv[2]) : 1;
  const std::string_view only = argc > 3 ? argv[3] : "";
  const auto data = fill(MSP_F32, bytes / 4, Shape::noise, false, 0);
  const double read = seconds(1, [&] {
    volatile bool differs = std::memcmp(data.data(), data.data() + data.size() / 2, data.size() / 2) != 0;
    static_cast<void>(differs);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < data.size(); i += 8) {
      std::uint64_t x;
      std::memcpy(&x, data.data() + i, 8);
      sum += x;
    }
    volatile std::uint64_t kept = sum;
    static_cast<void>(kept);
  });
  std::printf("%s, %d thread(s); a plain sum of the bytes reads %.1f GB/s\n", simd_targets()[0], threads,
              static_cast<double>(data.size()) / read / 1e9);
  std::printf("ref   target ");
  for (const char* name : shape_names) std::printf(" %10s", name);
  std::printf("\n");
  constexpr msp_dtype pairs[][2] = {
      {MSP_F32, MSP_F32},       {MSP_BF16, MSP_BF16},     {MSP_F16, MSP_F16},  {MSP_F64, MSP_F64},
      {MSP_F32, MSP_BF16},      {MSP_F32, MSP_F16},       {MSP_F64, MSP_F32},  {MSP_F8E4M3FN, MSP_F8E4M3FN},
      {MSP_F8E5M2, MSP_F8E5M2}, {MSP_BF16, MSP_F8E4M3FN}, {MSP_I32, MSP_I32},  {MSP_I64, MSP_I64},
      {MSP_C64, MSP_C64},       {MSP_C128, MSP_C128},     {MSP_C128, MSP_C64}, {MSP_C64, MSP_F32}};
  for (const auto& pair : pairs)
    if (only.empty() || dtype_name(pair[0]) == only || dtype_name(pair[1]) == only)
      bench_pair(pair[0], pair[1], bytes, threads);
  if (threads > 1) return 0;
  for (const msp_dtype dtype : {MSP_F32, MSP_BF16, MSP_F16, MSP_F64, MSP_I32})
    if (only.empty() || dtype_name(dtype) == only) bench_statistics(dtype, bytes);
}
