#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "report/writers.h"
#include "sample_report.h"

using namespace msprobe;
namespace fs = std::filesystem;

namespace {

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "msprobe_report_XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  fs::path path_;
};

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

template <class Act>
Error error_of(Act act) {
  try {
    act();
  } catch (const Error& error) {
    return error;
  }
  FAIL("no error");
  return Error("", "", "", "");
}

/// Files may not grow beyond this, as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace

TEST_CASE("output: the suffix chooses the format, in any case") {
  const Folder folder;
  const auto report = test::small_report();
  report::write_output(report, folder / "r.json", {});
  report::write_output(report, folder / "r.CSV", {});
  report::write_output(report, folder / "r.html", {});
  CHECK(read(folder / "r.json").starts_with("{\"schema\": \"msprobe.report/1\""));
  CHECK(read(folder / "r.CSV").starts_with("\xEF\xBB\xBFindex,"));
  CHECK(read(folder / "r.html").starts_with("<!doctype html>"));
  CHECK(folder.entries() == 3);
}

TEST_CASE("output: an unknown suffix is E6002 and names those that are known") {
  for (const char* name : {"report.txt", "report", "report.json.bak", ".json"}) {
    CAPTURE(name);
    const auto error = error_of([&] { report::check_output(name); });
    CHECK(error.code() == "E6002");
    CHECK(error.what_to_do().find(".json, .csv, .html") != std::string::npos);
  }
  report::check_output("-");
}

TEST_CASE("output: a folder that does not exist is known before the run, and said how to make") {
  const Folder folder;
  const auto error = error_of([&] { report::check_output(folder / "no/such/report.json"); });
  CHECK(error.code() == "E1001");
  CHECK(error.what_to_do().find("mkdir -p") != std::string::npos);
  CHECK(error_of([&] { report::check_output(folder / ""); }).code() == "E6002");
  fs::create_directory(folder / "dir.json");
  CHECK(error_of([&] { report::check_output(folder / "dir.json"); }).code() == "E1002");
}

TEST_CASE("output: a folder that may not be written to is E1002") {
  if (::geteuid() == 0) return;  // root may write everywhere
  const Folder folder;
  fs::create_directory(folder / "locked");
  fs::permissions(folder / "locked", fs::perms::owner_read | fs::perms::owner_exec);
  CHECK(error_of([&] { report::check_output(folder / "locked/r.json"); }).code() == "E1002");
}

TEST_CASE("output: on a full disk the earlier report stays whole, and the message says what is free and needed") {
  const Folder folder;
  const auto path = folder / "report.json";
  report::write_output(test::small_report(), path, {});
  const auto before = read(path);
  const auto error = [&] {
    const FileSizeLimit limit(4096);
    return error_of([&] { report::write_output(test::large_report(1000), path, {}); });
  }();
  CHECK(error.code() == "E1001");
  CHECK(error.what_happened().find("needed") != std::string::npos);
  CHECK(error.what_happened().find("free") != std::string::npos);
  CHECK(read(path) == before);
  CHECK(folder.entries() == 1);  // no temporary file is left
}

TEST_CASE("output: a device that is full is E1001") {
  if (!fs::exists("/dev/full")) return;
  const Folder folder;
  fs::create_symlink("/dev/full", folder / "full.json");
  CHECK(error_of([&] { report::write_output(test::small_report(), folder / "full.json", {}); }).code() == "E1001");
  CHECK(fs::is_symlink(folder / "full.json"));
}

TEST_CASE("output: a link stays a link, and the permissions of an earlier report stay") {
  const Folder folder;
  std::ofstream(folder / "real.json") << "old";
  REQUIRE(::chmod((folder / "real.json").c_str(), 0640) == 0);
  fs::create_symlink("real.json", folder / "link.json");
  report::write_output(test::equal_report(), folder / "link.json", {});
  CHECK(fs::is_symlink(folder / "link.json"));
  CHECK(read(folder / "real.json").starts_with("{"));
  struct stat status {};
  REQUIRE(::stat((folder / "real.json").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
}

TEST_CASE("output: names of 255 bytes work") {
  const Folder folder;
  const auto path = folder / (std::string(250, 'n') + ".json");
  report::write_output(test::equal_report(), path, {});
  CHECK(fs::exists(path));
  CHECK(error_of([&] { report::check_output(folder / (std::string(300, 'n') + ".json")); }).code() == "E1002");
}
