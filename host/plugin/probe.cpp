#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "plugin/description.h"
#include "plugin/isolation/child.h"
#include "plugin/isolation/row_message.h"

namespace msprobe::plugin {
namespace {

constexpr int time_limit_ms = 10'000;
constexpr std::uint64_t most_memory = std::uint64_t{4} << 30;

void put(MessageWriter& out, const AnalyzerDescription& analyzer) {
  out.put(std::string_view(analyzer.name)).put(std::string_view(analyzer.summary));
  out.put<std::uint8_t>(analyzer.parallel).put<std::uint8_t>(analyzer.has_finish).put(analyzer.accepts);
  out.put<std::uint64_t>(analyzer.options.size());
  for (const auto& option : analyzer.options) {
    out.put(std::string_view(option.name)).put(std::string_view(option.doc)).put(std::string_view(option.initial));
    out.put(option.type).put<std::uint8_t>(option.required).put<std::uint8_t>(option.bare);
  }
  put_columns(out, analyzer.columns, 0);
}

AnalyzerDescription get_analyzer(MessageReader& in) {
  AnalyzerDescription analyzer;
  analyzer.name = in.text();
  analyzer.summary = in.text();
  analyzer.parallel = in.get<std::uint8_t>() != 0;
  analyzer.has_finish = in.get<std::uint8_t>() != 0;
  analyzer.accepts = in.get<std::uint32_t>();
  for (auto left = in.count(); left > 0; --left) {
    OptionDescription option;
    option.name = in.text();
    option.doc = in.text();
    option.initial = in.text();
    option.type = in.get<std::uint32_t>();
    option.required = in.get<std::uint8_t>() != 0;
    option.bare = in.get<std::uint8_t>() != 0;
    analyzer.options.push_back(std::move(option));
  }
  for (auto left = in.count(); left > 0; --left) analyzer.columns.push_back(get_column(in));
  return analyzer;
}

/// In the child: load, describe, send. What goes wrong is sent as an error.
[[noreturn]] void probe_child(int socket, pid_t parent, const std::string& path) {
  restrict_child(parent, most_memory);
  MessageWriter out;
  try {
    const PluginDescription description = describe(load(path));
    out.put<std::uint8_t>(1)
        .put(std::string_view(description.path))
        .put(std::string_view(description.id))
        .put(std::string_view(description.version));
    out.put<std::uint64_t>(description.analyzers.size());
    for (const auto& analyzer : description.analyzers) put(out, analyzer);
  } catch (const Error& error) {
    out = MessageWriter();
    out.put<std::uint8_t>(0);
    put_error(out, error);
  } catch (...) {
    ::_exit(125);
  }
  send_message(socket, out.data());
  ::_exit(0);
}

/// Throws the error that the child met.
PluginDescription get_plugin(const std::string& data) {
  MessageReader in(data);
  if (in.get<std::uint8_t>() == 0) throw Error(get_error(in));
  PluginDescription description;
  description.path = in.text();
  description.id = in.text();
  description.version = in.text();
  for (auto left = in.count(); left > 0; --left) description.analyzers.push_back(get_analyzer(in));
  return description;
}

/// What others may write can be made to run anything as this user.
void refuse_writable_by_all(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && (info.st_mode & S_IWOTH) != 0)
    throw Error("E5014", "anyone may change this plugin, so it is not loaded", path, fmt::format("chmod o-w {}", path));
}

}  // namespace

PluginDescription probe(const std::string& path) {
  refuse_writable_by_all(path);
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    throw Error("E5001", "no socket for the process that looks at the plugin", path,
                "raise the limit of open files (ulimit -n)");
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(sockets[0]);
    probe_child(sockets[1], parent, path);
  }
  ::close(sockets[1]);
  std::string data;
  const Received received = child < 0 ? Received::ended : receive_message(sockets[0], data, time_limit_ms);
  ::close(sockets[0]);
  if (child < 0)
    throw Error("E5001", "no process to look at the plugin", path, "raise the limit of processes (ulimit -u)");
  const bool ends_itself = received == Received::whole || received == Received::ended;
  const int status = ends_itself ? reap_child(child) : end_child(child);
  if (received == Received::timed_out)
    throw Error("E5011", fmt::format("the plugin did not come back from loading within {} s", time_limit_ms / 1000),
                path, "tell its author");
  const Error garbled("E5010", "the plugin wrote into the channel of the program while it was loaded", path,
                      "tell its author");
  if (received == Received::garbled) throw Error(garbled);
  if (received != Received::whole)
    throw Error("E5010", fmt::format("the plugin {} while it was loaded", ending_text(status)), path,
                "tell its author");

  try {
    return get_plugin(data);
  } catch (const BadMessage&) {
    throw Error(garbled);
  }
}

}  // namespace msprobe::plugin
