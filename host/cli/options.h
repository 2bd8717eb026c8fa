/// Boost.Program_options with our error messages: an unknown option names the nearest one.
#pragma once
#include <boost/program_options.hpp>
#include <string>
#include <vector>

#include "cli/command.h"
#include "report/writers.h"

namespace msprobe::cli {

namespace po = boost::program_options;

/// Parses everything; throws Error E6001 or E6002. No abbreviations: a flag that is added later must not change what a
/// script means.
po::variables_map parse(const Arguments& arguments, const po::options_description& options,
                        const po::positional_options_description& positional = {});

/// Parses what is known and leaves the rest: to learn `-m` before its analyzer's own options are known.
po::variables_map parse_known(const Arguments& arguments, const po::options_description& options);

/// Prints usage, then the options at 80 columns.
int print_help(const std::string& usage, const po::options_description& options);

/// Adds --lang.
void add_language(po::options_description& options);
/// --lang en|zh, else the language of the environment. Throws Error E6002.
report::Language language_of(const po::variables_map& values);

}  // namespace msprobe::cli
