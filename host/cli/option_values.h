/// Values of options with the error messages that they deserve.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/options.h"
#include "msprobe/analyzer.h"

namespace msprobe::cli {

using Strings = std::vector<std::string>;

/// All of these throw Error E6002 for a value that makes no sense.
double number_option(const po::variables_map& values, const char* name);  ///< from 0 on
msp_dtype dtype_option(const std::string& text, const char* option);
std::vector<std::int64_t> shape_option(const std::string& text);
std::string choice(const po::variables_map& values, const char* name, const Strings& allowed);
std::string needed_path(const po::variables_map& values, const char* name, const char* flag);
/// A repeatable option; what was given twice counts once.
Strings list_option(const po::variables_map& values, const char* name);

}  // namespace msprobe::cli
