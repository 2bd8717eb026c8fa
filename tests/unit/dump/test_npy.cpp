#include "support.h"

using namespace msprobe;
using namespace msprobe::dump;
using namespace msprobe::dump::test;

namespace {
using Shape = std::vector<std::int64_t>;
const std::vector<float> six{0, 1, 2, 3, 4, 5};
}  // namespace

TEST_CASE("npy: versions 1, 2 and 3 are read") {
  const Folder folder;
  for (int version : {1, 2, 3}) {
    const std::string path =
        write(folder / "x.npy",
              npy_raw("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", bytes_of(six), version));
    const auto tensor = open_file(path);
    CHECK(tensor->shape() == Shape{2, 3});
    CHECK(tensor->dtype() == MSP_F32);
    CHECK(tensor->bytes() == 24);
    CHECK(read_all<float>(*tensor) == six);
  }
}

TEST_CASE("npy: keys come in any order, with any spacing and quotes, and Python 2 wrote 3L") {
  const Folder folder;
  for (const char* header : {"{'shape':(2,3),'fortran_order':False,'descr':'<f4'}",
                             "{ \"descr\" : \"<f4\" ,\n  'shape' : ( 2L , 3L , ) , 'fortran_order' : False , }   \n",
                             "{'fortran_order': False, 'descr': u'<f4', 'shape': [2, 3]}"}) {
    CAPTURE(header);
    const auto tensor = open_file(write(folder / "x.npy", npy_raw(header, bytes_of(six))));
    CHECK(tensor->shape() == Shape{2, 3});
    CHECK(read_all<float>(*tensor) == six);
  }
}

TEST_CASE("npy: 0-d, length 1 and empty shapes") {
  const Folder folder;
  CHECK(open_file(write(folder / "a.npy", npy("<f4", "()", std::string(4, '\0'))))->shape() == Shape{});
  CHECK(open_file(write(folder / "a.npy", npy("<f4", "()", std::string(4, '\0'))))->count() == 1);
  CHECK(open_file(write(folder / "b.npy", npy("<f4", "(1,)", std::string(4, '\0'))))->count() == 1);
  const auto empty = open_file(write(folder / "c.npy", npy("<f4", "(0, 3)", "")));
  CHECK(empty->shape() == Shape{0, 3});
  CHECK(empty->count() == 0);
  empty->read(0, 0, nullptr);
  ViewBuffer buffer;
  CHECK(empty->view(0, 0, buffer) != nullptr);
}

TEST_CASE("npy: Fortran order comes out in row-major order, for every range") {
  const Folder folder;
  std::vector<float> column_major;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) column_major.push_back(static_cast<float>(100 * i + 10 * j + k));
  const auto tensor = open_file(write(folder / "x.npy", npy("<f4", "(2, 3, 4)", bytes_of(column_major), true)));
  std::vector<float> expected;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k) expected.push_back(static_cast<float>(100 * i + 10 * j + k));
  CHECK(read_all<float>(*tensor) == expected);
  for (std::uint64_t first = 0; first <= 24; ++first)
    for (std::uint64_t count = 0; first + count <= 24; ++count) {
      std::vector<float> part(count);
      tensor->read(first, count, part.data());
      CHECK(part == std::vector<float>(expected.begin() + static_cast<long>(first),
                                       expected.begin() + static_cast<long>(first + count)));
    }
}

TEST_CASE("npy: big-endian numbers are turned, complex ones part by part") {
  const Folder folder;
  CHECK(values_of<float>(write(folder / "a.npy", npy(">f4", "(2,)", std::string("\x3f\x80\0\0\xc0\0\0\0", 8)))) ==
        std::vector<float>{1.0F, -2.0F});
  CHECK(values_of<std::int16_t>(write(folder / "b.npy", npy(">i2", "(2,)", std::string("\x01\x02\xff\xfe", 4)))) ==
        std::vector<std::int16_t>{0x102, -2});
  const auto complex = open_file(write(folder / "c.npy", npy(">c8", "(1,)", std::string("\x3f\x80\0\0\xc0\0\0\0", 8))));
  CHECK(complex->dtype() == MSP_C64);
  float parts[2];
  complex->read(0, 1, parts);
  CHECK(parts[0] == 1.0F);
  CHECK(parts[1] == -2.0F);
}

TEST_CASE("npy: every dtype of the list is known") {
  const Folder folder;
  const std::pair<const char*, msp_dtype> table[] = {
      {"<f8", MSP_F64},           {"<f4", MSP_F32},       {"<f2", MSP_F16},
      {"=f4", MSP_F32},           {"|i1", MSP_I8},        {"|u1", MSP_U8},
      {"<i2", MSP_I16},           {"<u2", MSP_U16},       {"<i4", MSP_I32},
      {"<u4", MSP_U32},           {"<i8", MSP_I64},       {"<u8", MSP_U64},
      {"|b1", MSP_BOOL},          {"?", MSP_BOOL},        {"<c8", MSP_C64},
      {"<c16", MSP_C128},         {"<V2", MSP_BF16},      {"|V2", MSP_BF16},
      {"<g2", MSP_BF16},          {"bfloat16", MSP_BF16}, {"float8_e4m3fn", MSP_F8E4M3FN},
      {"float8_e5m2", MSP_F8E5M2}};
  for (const auto& entry : table) {
    const auto& descr = entry.first;  // clang 14: captures take no structured bindings
    const auto dtype = entry.second;
    CAPTURE(descr);
    CHECK(open_file(write(folder / "x.npy", npy(descr, "(1,)", std::string(16, '\0'))))->dtype() == dtype);
  }
}

TEST_CASE("npy: --dtype-map says what an opaque dtype means, and overrules the default") {
  const Folder folder;
  const std::string v1 = write(folder / "a.npy", npy("|V1", "(2,)", "ab")),
                    v2 = write(folder / "b.npy", npy("<V2", "(1,)", "ab"));
  std::string text;
  CHECK(open_error(v1, &text) == "E4009");
  CHECK(text.find("|V1") != std::string::npos);
  CHECK(text.find("--dtype-map") != std::string::npos);
  Options options;
  options.dtype_map = {{"V1", MSP_F8E5M2}, {"V2", MSP_F16}, {"u2", MSP_BF16}};
  CHECK(open_file(v1, options)->dtype() == MSP_F8E5M2);
  CHECK(open_file(v2, options)->dtype() == MSP_F16);
  CHECK(open_file(write(folder / "c.npy", npy("<u2", "(1,)", "ab")), options)->dtype() == MSP_BF16);
  options.dtype_map = {{"V1", MSP_F32}};
  CHECK(open_error(v1, nullptr, options) == "E4010");
}

TEST_CASE("npy: what is no tensor is refused by name") {
  const Folder folder;
  std::string text;
  CHECK(open_error(write(folder / "a.npy", npy("|O", "(1,)", "12345678")), &text) == "E4006");
  CHECK(text.find("pickle") != std::string::npos);
  CHECK(open_error(write(folder / "b.npy",
                         npy_raw("{'descr': [('x', '<f4'), ('y', '<i8')], 'fortran_order': False, 'shape': (1,), }",
                                 std::string(12, ' '))),
                   &text) == "E4006");
  CHECK(text.find("('x', '<f4')") != std::string::npos);
  CHECK(open_error(write(folder / "c.npy", npy("<U10", "(1,)", std::string(40, ' '))), &text) == "E4009");
  CHECK(text.find("<U10") != std::string::npos);
  CHECK(open_error(write(folder / "d.npy", npy("<f16", "(1,)", std::string(16, ' ')))) == "E4009");
  CHECK(open_error(write(folder / "e.npy", npy("<M8[ns]", "(1,)", std::string(8, ' ')))) == "E4009");
}

TEST_CASE("npy: a file that is cut short says how many bytes were expected and found") {
  const Folder folder;
  const std::string whole = npy_f32(six);
  std::string text;
  CHECK(open_error(write(folder / "x.npy", whole.substr(0, whole.size() - 5)), &text) == "E4002");
  CHECK(text.find("expected " + std::to_string(whole.size()) + " bytes, found " + std::to_string(whole.size() - 5)) !=
        std::string::npos);
  CHECK(text.find("still being written?") != std::string::npos);
  CHECK(open_error(write(folder / "y.npy", "")) == "E4002");
  // Bytes behind the data are no harm: numpy appends arrays to one file.
  CHECK(values_of<float>(write(folder / "z.npy", whole + "more")) == six);
}

TEST_CASE("npy: headers that lie are errors, and cost neither memory nor time") {
  const Folder folder;
  const auto code = [&](const std::string& descr, const std::string& shape) {
    return open_error(write(folder / "x.npy", npy(descr, shape, "1234")));
  };
  CHECK(code("<f4", "(4611686018427387904,)") == "E4007");
  CHECK(code("<f4", "(4294967296, 4294967296, 4294967296)") == "E4007");
  CHECK(code("<f4", "(3000000000,)") == "E4002");
  CHECK(code("<f4", "(-1,)") == "E4007");
  CHECK(code("<f4", "(99999999999999999999,)") == "E4007");
  CHECK(code("<f4", "(1 2)") == "E4007");
  CHECK(open_error(write(folder / "y.npy", npy_raw("{'descr': '<f4', 'shape': (1,)}", "1234"))) == "E4007");
  CHECK(open_error(write(folder / "y.npy", npy_raw("", "1234"))) == "E4007");
  CHECK(open_error(write(folder / "y.npy", npy_raw("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}",
                                                   "1234"))) == "E4007");
  CHECK(open_error(write(folder / "v.npy", npy_raw("{}", "", 9))) == "E4007");
}

TEST_CASE("npy: headers longer than 64 KiB are read") {
  const Folder folder;
  const std::string header =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }" + std::string(100'000, ' ') + "\n";
  CHECK(values_of<float>(write(folder / "x.npy", npy_raw(header, bytes_of(six), 2))) == six);
}

TEST_CASE("npy: more than 2^31 elements in a sparse file of more than 4 GiB") {
  const Folder folder;
  const std::string head = npy("|i1", "(5000000000,)", "");
  const std::string path = write(folder / "x.npy", head);
  std::error_code failed;
  fs::resize_file(path, head.size() + 5'000'000'000ULL, failed);
  if (failed) return;  // a file system without sparse files
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(head.size() + 4'999'999'999ULL));
    file.put(7);
  }
  const auto tensor = open_file(path);
  CHECK(tensor->count() == 5'000'000'000ULL);
  std::int8_t last[2];
  tensor->read(4'999'999'998ULL, 2, last);
  CHECK(last[0] == 0);
  CHECK(last[1] == 7);
  ViewBuffer buffer;
  const std::byte* view = tensor->view(4'999'000'000ULL, 1'000'000, buffer);
  CHECK(std::to_integer<int>(view[999'999]) == 7);
  CHECK_NOTHROW(buffer.check());
}
