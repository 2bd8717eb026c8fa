/// Today's plugins against a host of the first release: a table of functions that ends where 1.0 ended, with nothing
/// readable behind it.
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "dump/dump.h"
#include "engine/run.h"
#include "pair/pair.h"
#include "plugin/call.h"
#include "plugin/library.h"
#include "plugin/plugin_analysis.h"

namespace {

using msprobe::plugin::PluginAnalysis;

/// Sizes of structs in tests/abi/golden_1_0.txt.
std::map<std::string, std::size_t> golden_sizes() {
  std::map<std::string, std::size_t> sizes;
  std::ifstream file(MSPROBE_ABI "/golden_1_0.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind, name;
    std::size_t size = 0;
    if (words >> kind >> name >> size && kind == "struct") sizes[name] = size;
  }
  REQUIRE(sizes.size() > 10);
  return sizes;
}

/// The first `size` bytes of a struct, with a page behind them that cannot be read. Lives as long as the process.
template <class Struct>
const Struct* truncated(const Struct& whole, std::size_t size) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  REQUIRE(size <= page);
  void* pages = ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(pages != MAP_FAILED);
  auto* at = static_cast<std::byte*>(pages) + page - size;
  std::memcpy(at, &whole, size);
  const auto said = static_cast<std::uint32_t>(size);
  std::memcpy(at, &said, sizeof said);
  REQUIRE(::mprotect(static_cast<std::byte*>(pages) + page, page, PROT_NONE) == 0);
  return reinterpret_cast<const Struct*>(at);
}

const void* old_service(const msp_host*, const char* id) noexcept {
  static const msp_host today = msprobe::plugin::make_host_table();
  const void* service = today.service(&today, id);
  if (service && std::strcmp(id, MSP_DIFF_SERVICE) == 0)
    return truncated(*static_cast<const msp_diff_service*>(service), golden_sizes()["msp_diff_service"]);
  if (service && std::strcmp(id, MSP_KERNELS_SERVICE) == 0)
    return truncated(*static_cast<const msp_kernels_service*>(service), golden_sizes()["msp_kernels_service"]);
  return nullptr;
}

const msp_host* old_host() {
  msp_host host = msprobe::plugin::make_host_table();
  host.abi_minor = 0;
  host.service = old_service;
  return truncated(host, golden_sizes()["msp_host"]);
}

msprobe::result::Report run(const std::string& library, const msp_host* host, unsigned jobs = 1) {
  const auto loaded = msprobe::plugin::load(library);
  const msp_analyzer& analyzer = *loaded.analyzers().front();
  PluginAnalysis analysis(analyzer, msprobe::plugin::default_options(msprobe::plugin::describe(analyzer)), host);
  const std::string data = MSPROBE_ABI "/../../examples/data/enc_eps";
  const auto reference = msprobe::dump::open(data + "/reference", {}),
             target = msprobe::dump::open(data + "/target", {});
  const auto pairing = msprobe::pair::match(reference, target, {});
  msprobe::engine::Options options;
  options.jobs = jobs;
  return msprobe::engine::run(reference, target, pairing, analysis, options);
}

}  // namespace

TEST_CASE("today's plugins give the same rows with the host of the first release") {
  for (const char* name : {"verl", "custom", "abi_every_callback", "abi_minimal", "abi_scale"}) {
    CAPTURE(name);
    const std::string path = std::string(MSPROBE_LIBRARIES) + "/" + name + ".so";
    const auto today = run(path, nullptr), old = run(path, old_host());
    REQUIRE(today.rows.size() == old.rows.size());
    CHECK(today.summary.compared > 0);
    CHECK(today.summary.error == 0);
    for (std::size_t i = 0; i < today.rows.size(); ++i) {
      CHECK(today.rows[i].verdict == old.rows[i].verdict);
      CHECK(today.rows[i].why == old.rows[i].why);
      CHECK(today.rows[i].metrics.size() == old.rows[i].metrics.size());
    }
    CHECK(today.findings.size() == old.findings.size());
  }
}

TEST_CASE("two plugins with the same names in one process do not meet") {
  const std::string folder = MSPROBE_LIBRARIES;
  const auto one = run(folder + "/abi_twin_one.so", nullptr, 2),
             hundred = run(folder + "/abi_twin_hundred.so", nullptr, 2);
  std::int64_t most[2] = {0, 0}, judged = 0;
  for (const auto& row : one.rows)
    for (const auto& value : row.metrics)
      if (const auto* count = std::get_if<std::int64_t>(&value)) most[0] = std::max(most[0], *count);
  for (const auto& row : hundred.rows) {
    judged += !row.metrics.empty();
    for (const auto& value : row.metrics)
      if (const auto* count = std::get_if<std::int64_t>(&value)) most[1] = std::max(most[1], *count);
  }
  CHECK(judged > 0);
  CHECK(most[0] == judged);
  CHECK(most[1] == 100 * judged);
}
