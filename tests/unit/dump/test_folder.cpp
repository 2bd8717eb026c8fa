#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

using namespace msprobe;
using namespace msprobe::dump;
using namespace msprobe::dump::test;

namespace {

using Names = std::vector<std::string>;

Names names_of(const Dump& dump) {
  Names names;
  for (const Tensor& tensor : dump.tensors) names.push_back(tensor.name);
  return names;
}

const std::string one = npy_f32({1});

}  // namespace

TEST_CASE("folder: tensors are named by their path without suffix, in natural order") {
  const Folder folder;
  for (const char* name : {"conv10.npy", "conv2.npy", "block/a.npy", "block/b/c.npy", "Conv2.npy", "x y/=1.npy"})
    write(folder / name, one);
  write(folder / "readme.txt", "text");
  write(folder / "notes", "no suffix, no tensor");
  const Dump dump = dump::open(folder.path.string());
  CHECK(dump.tool == "files");
  CHECK(names_of(dump) == Names{"Conv2", "block/a", "block/b/c", "conv2", "conv10", "x y/=1"});
  CHECK(dump.tensors[1].layer == "block/a");
  CHECK(dump.tensors[1].call == -1);
  CHECK(dump.tensors[1].slot.empty());
  CHECK(dump.tensors[1].dtype == MSP_F32);
  CHECK(dump.tensors[4].execution_index == -1);
  CHECK(noted(dump, "1 files are no tensor files"));
}

TEST_CASE("folder: strange names are kept as they are") {
  const Folder folder;
  const Names names{"-r", "..hidden", "=cmd", "a\"b<c>d|e?f*g:h", std::string(240, 'n'), "\xe5\xb1\x82"};
  for (const std::string& name : names) write(folder / (name + ".npy"), one);
  CHECK(names_of(dump::open(folder.path.string())) == names);
}

TEST_CASE("folder: two files of one name are both kept, and say so") {
  const Folder folder;
  write(folder / "x.npy", one);
  write(folder / "x.bin", "1234");
  write(folder / "y.npy", one);
  const Dump dump = dump::open(folder.path.string());
  CHECK(names_of(dump) == Names{"x.bin", "x.npy", "y"});
  CHECK(noted(dump, "x.bin"));
}

TEST_CASE("folder: members are named by themselves, and by their file only where two would be the same") {
  const Folder folder;
  fs::copy_file(data / "pt/shared.pt", folder / "a.pt");
  CHECK(names_of(dump::open(folder.path.string())) == Names{"whole", "column"});
  fs::copy_file(data / "pt/shared.pt", folder / "b.pt");
  const Dump dump = dump::open(folder.path.string());
  CHECK(names_of(dump) == Names{"a/whole", "a/column", "b/whole", "b/column"});
  CHECK(dump.tensors[3].member == "column");
  CHECK(open_data(dump.tensors[3], {})->count() == 3);
}

TEST_CASE("folder: a file that cannot be read is a row, not the end") {
  const Folder folder;
  write(folder / "good.npy", one);
  write(folder / "cut.npy", one.substr(0, one.size() - 1));
  write(folder / "empty.pt", "");
  write(folder / "object.npy", npy("|O", "(1,)", "12345678"));
  fs::create_symlink("nowhere", folder / "broken.npy");
  REQUIRE(::mkfifo((folder / "pipe.npy").c_str(), 0600) == 0);
  const Dump dump = dump::open(folder.path.string());
  CHECK(names_of(dump) == Names{"broken", "cut", "empty", "good", "object"});
  CHECK(find(dump, "cut")->problem->code == "E4002");
  CHECK(find(dump, "empty")->problem->code == "E4002");
  CHECK(find(dump, "object")->problem->code == "E4006");
  CHECK(find(dump, "broken")->problem->code == "E1003");
  CHECK_FALSE(find(dump, "good")->problem);
}

TEST_CASE("folder: links in circles end, and real folders give the names") {
  const Folder folder;
  write(folder / "run3/x.npy", one);
  fs::create_directory_symlink("run3", folder / "latest");
  fs::create_directory_symlink("..", folder / "run3/up");
  CHECK(names_of(dump::open(folder.path.string())) == Names{"run3/x"});
  const Folder other;
  fs::create_directory_symlink(folder.path / "run3", other / "linked");
  CHECK(names_of(dump::open(other.path.string())).size() == 1);
}

TEST_CASE("folder: step and rank folders without dump.json give step and rank") {
  const Folder folder;
  for (const char* name : {"step10/rank1/x.npy", "step2/rank0/a/x.npy", "step2/rank1/x.npy", "step2/y.npy"})
    write(folder / name, one);
  const Dump dump = dump::open(folder.path.string());
  CHECK(names_of(dump) == Names{"a/x", "y", "x", "x"});
  CHECK(dump.tensors[0].step == 2);
  CHECK(dump.tensors[2].rank == 1);
  CHECK(dump.tensors[3].step == 10);
  CHECK(dump.tensors[3].rank == 1);
  CHECK(dump.tensors[3].execution_index == -1);
}

TEST_CASE("folder: the same with many threads") {
  const Folder folder;
  for (int i = 0; i < 300; ++i) write(folder / std::to_string(i).insert(0, 1, 't').append(".npy"), one);
  const Names serial = names_of(dump::open(folder.path.string()));
  CHECK(serial.size() == 300);
  CHECK(serial[10] == "t10");
  Options options;
  options.jobs = 8;
  std::uint64_t files = 0;
  options.progress = [&](std::uint64_t more) { files += more; };
  CHECK(names_of(dump::open(folder.path.string(), options)) == serial);
  CHECK(files == 300);
}

TEST_CASE("file: a single file is a dump of its tensor") {
  const Folder folder;
  const Dump dump = dump::open(write(folder / "out.v1.npy", one));
  CHECK(dump.tool == "file");
  REQUIRE(dump.tensors.size() == 1);
  CHECK(dump.tensors[0].name == "out.v1");
  CHECK(dump.path == folder / "out.v1.npy");
  CHECK(dump.tensors[0].file.front() == '/');
  CHECK(code_of([&] { dump::open(write(folder / "x.npy", one.substr(0, 130))); }) == "E4002");
  CHECK(code_of([&] { dump::open(write(folder / "x.xyz", "text")); }) == "E4001");
}

TEST_CASE("open: what is not there, empty or closed says so") {
  const Folder folder;
  std::string text;
  CHECK(code_of([&] { dump::open(folder / "nothing"); }, &text) == "E1003");
  CHECK(text.find(folder / "nothing") != std::string::npos);
  CHECK(code_of([&] { dump::open(folder.path.string()); }) == "E4003");
  fs::create_directories(folder / "step0");
  CHECK(code_of([&] { dump::open(folder.path.string()); }) == "E4003");
  if (::geteuid() != 0) {  // root may read everything
    fs::create_directories(folder / "closed");
    ::chmod((folder / "closed").c_str(), 0);
    CHECK(code_of([&] { dump::open(folder / "closed"); }) == "E1004");
    ::chmod((folder / "closed").c_str(), 0700);
  }
}

TEST_CASE("open: a dump further down is pointed to") {
  const Folder folder;
  fs::create_directories(folder / "runs/one/step0/rank0");
  write(folder / "runs/one/step0/rank0/dump.json", R"({"data": {}})");
  std::string text;
  CHECK(code_of([&] { dump::open(folder.path.string()); }, &text) == "E4003");
  CHECK(text.find("runs/one") != std::string::npos);
}
