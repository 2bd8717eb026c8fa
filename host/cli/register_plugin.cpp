#include <fmt/format.h>

#include <iostream>

#include "base/error.h"
#include "cli/command.h"
#include "cli/options.h"
#include "plugin/registry.h"
#include "plugin/search.h"

namespace msprobe::cli {

int register_plugin(const Arguments& arguments) {
  po::options_description options("Options", 80);
  options.add_options()("path,p", po::value<std::string>()->value_name("FILE"), "the library (.so)")(
      "name,n", po::value<std::string>()->value_name("NAME"), "the name that -m takes")(
      "force", "replace another library of this name")("help,h", "this text");
  const auto values = parse(arguments, options);
  if (values.count("help"))
    return print_help(
        "Usage: msprobe register_plugin -p lib.so -n NAME\n\nMakes `msprobe compare -m NAME` find the analyzer of a "
        "library.\n",
        options);
  for (const char* name : {"path", "name"})
    if (!values.count(name))
      throw Error("E6002", fmt::format("the {} is missing", name), "command line",
                  "msprobe register_plugin -p lib.so -n NAME");
  plugin::refuse_built_in_name(values["name"].as<std::string>());
  const auto entry = plugin::register_plugin(values["name"].as<std::string>(), values["path"].as<std::string>(),
                                             values.count("force") > 0);
  std::cout << fmt::format("registered {}: {}\nuse it: msprobe compare -m {} -r REFERENCE -t TARGET\n", entry.name,
                           entry.path, entry.name);
  return ok;
}

int unregister_plugin(const Arguments& arguments) {
  po::options_description options("Options", 80);
  options.add_options()("name,n", po::value<std::string>()->value_name("NAME"), "the registered name")("help,h",
                                                                                                       "this text");
  const auto values = parse(arguments, options);
  if (values.count("help")) return print_help("Usage: msprobe unregister_plugin -n NAME\n", options);
  if (!values.count("name"))
    throw Error("E6002", "the name is missing", "command line", "msprobe unregister_plugin -n NAME");
  plugin::unregister_plugin(values["name"].as<std::string>());
  std::cout << fmt::format("unregistered {}\n", values["name"].as<std::string>());
  return ok;
}

}  // namespace msprobe::cli
