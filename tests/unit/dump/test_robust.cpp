/// Damaged files: every truncation and many changed bytes give an Error, a Problem or some tensor, and never more.
#include "dump/pickle.h"
#include "support.h"

using namespace msprobe;
using namespace msprobe::dump;
using namespace msprobe::dump::test;

namespace {

/// Opens and reads everything that can be; returns whether it was whole.
bool survive(const std::string& path) {
  try {
    const Dump dump = dump::open(path);
    bool whole = !dump.incomplete;
    for (const Tensor& tensor : dump.tensors) {
      if (tensor.problem || tensor.kind != Kind::tensor) {
        whole = whole && !tensor.problem;
        continue;
      }
      const auto data = open_data(tensor, {});
      // An expanded tensor may claim any number of elements from one; what is looked at stays small.
      std::vector<char> out(std::min<std::uint64_t>(data->count(), 4096) * 16);
      data->read(0, std::min<std::uint64_t>(data->count(), 4096), out.data());
    }
    return whole;
  } catch (const Error&) {
    return false;
  }
}

std::vector<std::pair<std::string, std::string>> seeds() {
  std::vector<std::pair<std::string, std::string>> files{{"x.npy", npy_f32({1, 2, 3})},
                                                         {"f.npy", npy("<f8", "(2, 3)", std::string(48, 'x'), true)}};
  for (const char* name : {"plain", "protocol4", "zip64", "checkpoint", "transposed", "big_endian", "posix_system"})
    files.emplace_back(std::string(name) + ".pt", slurp(data / "pt" / (std::string(name) + ".pt")));
  return files;
}

}  // namespace

TEST_CASE("robust: cut at every byte") {
  const Folder folder;
  for (const auto& seed : seeds()) {
    const auto& name = seed.first;  // clang 14: captures take no structured bindings
    const auto& bytes = seed.second;
    CAPTURE(name);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      CAPTURE(size);
      // Nothing in these files may be missing, so none of the parts is a whole file.
      CHECK_FALSE(survive(write(folder / name, bytes.substr(0, size))));
    }
  }
}

TEST_CASE("robust: every byte changed in several ways") {
  const Folder folder;
  for (const auto& [name, bytes] : seeds()) {
    for (std::size_t i = 0; i < bytes.size(); ++i)
      for (const char change : {'\x01', '\x80', '\xff'}) {
        std::string damaged = bytes;
        damaged[i] = static_cast<char>(damaged[i] ^ change);
        survive(write(folder / name, damaged));
      }
  }
}

TEST_CASE("robust: dump.json with changed bytes") {
  const Folder folder;
  const std::string json = slurp(data / "enc_same_L0/step0/proc19951/dump.json").substr(0, 4000);
  for (std::size_t i = 0; i < json.size(); ++i) {
    std::string damaged = json;
    damaged[i] = static_cast<char>(damaged[i] ^ (i % 2 ? 0x80 : 0x01));
    survive(write(folder / "dump.json", damaged));
  }
}

TEST_CASE("robust: pickles of random opcodes") {
  std::uint32_t state = 99;
  const std::string path = "random.pt";
  const std::string opcodes =
      "\x80\x02.(02NJKMIGXTUBC)]}tlaesuqrhjcRQb\x85\x86\x87\x88\x89\x8a\x8b\x8c\x8f\x90\x91\x93\x94\x95\x81";
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes;
    for (int i = 0; i < 60; ++i) {
      state = state * 1664525 + 1013904223;
      bytes += (state >> 28) != 0 ? opcodes[(state >> 8) % opcodes.size()] : static_cast<char>(state >> 16);
    }
    bytes += '.';
    try {
      read_pickle({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()}, path);
    } catch (const Error&) {
    }
  }
}

TEST_CASE("robust: sizes that lie do not cost memory") {
  const Folder folder;
  // A text of 4 GiB, a tuple of a memo that does not exist, a number of 2 GiB digits.
  for (const std::string& pickle :
       {std::string("\x80\x02X\xff\xff\xff\xff.", 8), std::string("\x80\x02r\xff\xff\xff\x7f.", 8),
        std::string("\x80\x02\x8b\xff\xff\xff\x7f.", 8), std::string("\x80\x02Nr\xff\xff\xff\x7f.", 9),
        std::string("\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\xff.", 12)})
    CHECK(code_of([&] {
            read_pickle({reinterpret_cast<const std::byte*>(pickle.data()), pickle.size()}, "x.pt");
          }) == "E4007");
  const std::string header = std::string("\x93NUMPY\x02\0\xff\xff\xff\xff", 12);
  const std::string path = write(folder / "x.npy", header);
  std::error_code failed;
  fs::resize_file(path, 5'000'000'000ULL, failed);  // sparse: the length is there, the header is not
  if (!failed) CHECK(open_error(path) == "E4007");
}
