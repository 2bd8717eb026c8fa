#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <future>
#include <iostream>
#include <thread>

#include "base/error.h"
#include "base/log.h"
#include "base/nearest.h"
#include "cli/analyzers.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/option_values.h"
#include "cli/options.h"
#include "dump/dump.h"
#include "engine/run.h"
#include "msprobe/dtype.hpp"
#include "pair/pair.h"
#include "report/writers.h"

namespace msprobe::cli {
namespace {

constexpr const char* usage =
    "Usage: msprobe compare -r REFERENCE -t TARGET [-m MODE] [-o REPORT]...\n\n"
    "Compares two dumps layer by layer and names the first layer that went wrong.\n"
    "REFERENCE and TARGET: a dump root, a step or rank folder, a dump.json, a folder\n"
    "of tensor files, or one tensor file (.npy .pt .bin).\n"
    "Exit code: 0 nothing failed, 1 a row failed, 2 nothing could start, 3 incomplete.\n";

po::options_description host_options() {
  po::options_description options("Options", 80, 40);
  options.add_options()                                                                //
      ("reference,r", po::value<std::string>()->value_name("PATH"), "reference dump")  //
      ("target,t", po::value<std::string>()->value_name("PATH"), "target dump")        //
      ("mode,m", po::value<std::string>()->default_value("veRL")->value_name("NAME"),
       "analyzer: a name or the path of a .so; several with commas")  //
      ("output,o", po::value<Strings>()->value_name("FILE"),
       "report: .json .csv .html, '-' is JSON on stdout; repeatable")                            //
      ("jobs,j", po::value<unsigned>()->value_name("N"), "worker threads (default: all cores)")  //
      ("verbosity,v", po::value<int>()->default_value(1)->value_name("0..3"),
       "0 one line, 1 first and worst layers, 2 every tensor, 3 every metric of every tensor")  //
      ("all", "list every row on the terminal")                                                 //
      ("error-threshold", po::value<std::string>()->default_value("auto")->value_name("X"),
       "alarm threshold of a layer's error")  //
      ("thresholds", po::value<std::string>()->value_name("FILE"),
       "limits by layer: JSON list of layer, metric, limit")  //
      ("noise-dtype", po::value<std::string>()->value_name("DTYPE"),
       "auto threshold as if this dtype were upstream (bf16, tf32, ...)")                                      //
      ("compare-mode", po::value<std::string>()->default_value("layerwise")->value_name("NAME"), "layerwise")  //
      ("no-ignore", "judge rows that say nothing too (uninitialised memory, ...)")                             //
      ("fail-on", po::value<std::string>()->default_value("fail")->value_name("fail|warn"),
       "what makes exit code 1")                                     //
      ("allow-unmatched", "unmatched rows do not make exit code 3")  //
      ("exit-zero", "exit code 0 instead of 1 and 3")                //
      ("dtype", po::value<std::string>()->value_name("DTYPE"),
       "dtype of raw .bin files (default: side file, else f32)")                                //
      ("shape", po::value<std::string>()->value_name("D,D"), "shape of raw .bin files: 2,3,4")  //
      ("dtype-map", po::value<Strings>()->value_name("NAME=DTYPE"),
       "what an opaque dtype means: V2=bf16; repeatable")                                               //
      ("plugin-dir", po::value<Strings>()->value_name("DIR"), "look here for plugins too; repeatable")  //
      ("no-progress", "no progress bar")                                                                //
      ("color", po::value<std::string>()->default_value("auto")->value_name("auto|always|never"),
       "colours on the terminal")  //
      ("help,h", "this text");
  Analyzers::add_host_options(options);
  add_language(options);
  return options;
}

dump::Options dump_options(const po::variables_map& values) {
  dump::Options options;
  if (values.count("dtype")) {
    options.dtype = values["dtype"].as<std::string>();
    if (dtype_option(options.dtype, "--dtype") == MSP_TF32)
      throw Error("E6002", "no file holds tf32", "--dtype", "such values are stored as f32");
  }
  if (values.count("shape")) options.shape = shape_option(values["shape"].as<std::string>());
  if (values.count("dtype-map"))
    for (const auto& entry : values["dtype-map"].as<Strings>()) {
      const std::size_t equal = entry.find('=');
      if (equal == std::string::npos)
        throw Error("E6002", fmt::format("'{}' is no mapping", entry), "--dtype-map", "write NAME=DTYPE: V2=bf16");
      options.dtype_map.emplace_back(entry.substr(0, equal), dtype_option(entry.substr(equal + 1), "--dtype-map"));
    }
  return options;
}

engine::Options engine_options(const po::variables_map& values) {
  engine::Options options;
  options.jobs =
      values.count("jobs") ? values["jobs"].as<unsigned>() : std::max(1u, std::thread::hardware_concurrency());
  if (options.jobs == 0 || options.jobs > 1024)
    throw Error("E6002", "the number of workers must be 1 to 1024", "-j", "leave -j out for all cores");
  options.progress = isatty(STDERR_FILENO) && !values.count("no-progress");
  options.fail_on_warn = values["fail-on"].as<std::string>() == "warn";
  options.allow_unmatched = values.count("allow-unmatched") > 0;
  if (values["error-threshold"].as<std::string>() != "auto")
    options.error_threshold = number_option(values, "error-threshold");
  if (values.count("thresholds")) options.limits = engine::read_limits(values["thresholds"].as<std::string>());
  if (values.count("noise-dtype")) {
    options.noise_dtype = dtype_option(values["noise-dtype"].as<std::string>(), "--noise-dtype");
    if (!is_float(options.noise_dtype))
      throw Error("E6002", "noise comes from a float dtype", "--noise-dtype", "use bf16, f16, tf32, f32, ...");
  }
  options.dump = dump_options(values);
  options.cancelled = interrupt_wanted;
  return options;
}

report::TerminalOptions terminal_options(const po::variables_map& values) {
  report::TerminalOptions options;
  options.verbosity = values["verbosity"].as<int>();
  if (options.verbosity < 0 || options.verbosity > 3)
    throw Error("E6002", "the verbosity is 0, 1, 2 or 3", "-v", "leave it out for 1");
  options.all_rows = values.count("all") > 0;
  options.language = language_of(values);
  winsize size{};
  if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
    options.width = size.ws_col;
  const std::string color = choice(values, "color", {"auto", "always", "never"});
  options.color = color == "always" || (color == "auto" && isatty(STDOUT_FILENO) && !std::getenv("NO_COLOR"));
  return options;
}

/// UTC; SOURCE_DATE_EPOCH makes reports reproducible (reproducible-builds.org: seconds since 1970, decimal).
std::string now_text() {
  std::time_t now = std::time(nullptr);
  if (const char* epoch = std::getenv("SOURCE_DATE_EPOCH")) {
    const char* end = epoch + std::char_traits<char>::length(epoch);
    constexpr std::time_t year_10000 = 253402300800;
    const auto parsed = std::from_chars(epoch, end, now);
    if (parsed.ec != std::errc() || parsed.ptr != end || now < 0 || now >= year_10000)
      throw Error("E6002", fmt::format("'{}' is no number of seconds since 1970", epoch), "SOURCE_DATE_EPOCH",
                  "correct or unset it");
  }
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

/// An output that is a file of a dump, by its name or through a link, would destroy what the user wants to look at.
void refuse_dump_file(const std::string& output) {
  std::error_code unknown;
  const auto real = std::filesystem::weakly_canonical(output, unknown);
  if (unknown || !std::filesystem::exists(real, unknown)) return;
  const std::string name = real.filename(), suffix = real.extension();
  const Strings names{"dump.json", "stack.json", "construct.json", "debug.json"},
      suffixes{".npy", ".pt", ".pth", ".bin"};
  if (std::find(names.begin(), names.end(), name) != names.end() ||
      std::find(suffixes.begin(), suffixes.end(), suffix) != suffixes.end())
    throw Error("E1002", "the report would replace a file of a dump", output, "name another file with -o");
}

/// Both catalogues at once when there are two workers.
std::pair<dump::Dump, dump::Dump> open_both(const std::string& reference, const std::string& target,
                                            const engine::Options& options) {
  dump::Options each = options.dump;
  each.jobs = std::max(1u, options.jobs / 2);
  const auto open_target = [&] { return dump::open(target, each); };
  std::future<dump::Dump> other;
  try {
    other = std::async(options.jobs > 1 ? std::launch::async : std::launch::deferred, open_target);
  } catch (const std::system_error&) {  // no further thread
    other = std::async(std::launch::deferred, open_target);
  }
  dump::Dump first = dump::open(reference, each);
  return {std::move(first), other.get()};
}

int exit_code(const result::Report& report, const po::variables_map& values, bool fail_on_warn) {
  const result::Summary& summary = report.summary;
  if (summary.partial) return interrupted;
  int code = ok;
  if (summary.fail > 0 || (fail_on_warn && summary.warn > 0))
    code = failed;
  else if (summary.compared == 0 || summary.incomplete)
    code = incomplete;
  return values.count("exit-zero") ? ok : code;
}

void add_report_options(result::Report& report, const po::variables_map& values, const engine::Options& options,
                        const Analyzers& analyzers) {
  auto& list = report.options;
  list.emplace_back("error_threshold", options.error_threshold ? result::Value(*options.error_threshold)
                                                               : result::Value(std::string("auto")));
  list.emplace_back("compare_mode", values["compare-mode"].as<std::string>());
  for (const char* name : {"noise-dtype", "thresholds", "dtype", "shape"})
    if (values.count(name)) {
      std::string key = name;
      std::replace(key.begin(), key.end(), '-', '_');
      list.emplace_back(key, values[name].as<std::string>());
    }
  list.emplace_back("ignore", values.count("no-ignore") == 0);
  list.emplace_back("fail_on", values["fail-on"].as<std::string>());
  for (auto& option : analyzers.options(values)) list.push_back(std::move(option));
}

}  // namespace

int compare(const Arguments& arguments) {
  po::options_description options = host_options();
  const auto known = parse_known(arguments, options);
  const Analyzers analyzers(known["mode"].as<std::string>(), list_option(known, "plugin-dir"));
  analyzers.add_options(options);
  if (known.count("help")) return print_help(usage, options);
  const auto values = parse(arguments, options);

  choice(values, "compare-mode", {"layerwise"});
  choice(values, "fail-on", {"fail", "warn"});
  const std::string reference_path = needed_path(values, "reference", "-r"),
                    target_path = needed_path(values, "target", "-t");
  const Strings outputs = list_option(values, "output");
  for (const auto& output : outputs) {
    report::check_output(output);
    if (output != "-") refuse_dump_file(output);
  }
  const engine::Options run_options = engine_options(values);
  const report::TerminalOptions terminal = terminal_options(values);
  const auto analysis = analyzers.make(values, run_options.dump);

  std::error_code failed;
  if (std::filesystem::equivalent(reference_path, target_path, failed))
    log::warning(fmt::format("reference and target are the same: {}", reference_path));

  catch_interrupt();
  const std::string started = now_text();
  const auto [reference, target] = open_both(reference_path, target_path, run_options);
  const auto pairing = pair::match(reference, target, {.ignore = values.count("no-ignore") == 0});
  result::Report report = engine::run(reference, target, pairing, *analysis, run_options);
  report.version = MSPROBE_VERSION;
  report.mode = analyzers.mode();
  report.command = command_line();
  report.started = started;
  if (std::getenv("SOURCE_DATE_EPOCH")) report.seconds = 0;
  add_report_options(report, values, run_options, analyzers);

  const bool to_stdout = std::find(outputs.begin(), outputs.end(), "-") != outputs.end();
  if (!to_stdout) report::write_terminal(report, std::cout, terminal);
  for (const auto& output : outputs) {
    report::write_output(report, output, terminal);
    if (output != "-" && !to_stdout) std::cout << fmt::format("report: {}\n", output);
  }
  return exit_code(report, values, run_options.fail_on_warn);
}

}  // namespace msprobe::cli
