"""Cases 44 to 62 and the corpus C and E of docs (cases.md): shapes and files, read right or refused."""
import io
import itertools
import pickle
import struct
import zipfile

import numpy
import pytest

from tensor_files import (dense_strides, npy_bytes, pt_bytes, pt_dict, pt_list, pt_tensor, to_bf16, write_bin, write_npy, write_pt)

VALUES = numpy.arange(1, 25, dtype="<f4").reshape(2, 3, 4)


@pytest.fixture
def against_npy(msprobe, tmp_path):
    """Compares a file with an array; equal means error 0 at threshold 0."""
    def run(path, array, *options):
        done = msprobe.compare(write_npy(tmp_path / "want.npy", array), path, "--error-threshold", "0", *options)
        assert done.code == 0, [(row["name"], row["verdict"], row["why"]) for row in done.rows] or done.err
        row = done.only
        assert row["verdict"] == "pass" and row["error"] == 0 and row["metrics"]["elements"] == numpy.size(array)
        return row
    return run


def test_the_fixture_sees_one_wrong_element(msprobe, tmp_path):
    wrong = VALUES.copy()
    wrong[1, 2, 3] += 1
    run = msprobe.compare(write_npy(tmp_path / "a.npy", VALUES), write_npy(tmp_path / "b.npy", wrong), "--error-threshold", "0")
    assert run.code == 1 and run.only["metrics"]["max_abs_at"] == "[1, 2, 3]"


# ---- shapes ----

@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0, 4)])
def test_case_44_two_empty_tensors_are_equal_and_have_no_metrics(msprobe, tmp_path, shape):
    for write, suffix in ((write_npy, "npy"), (write_pt, "pt")):
        path = write(tmp_path / f"x.{suffix}", numpy.zeros(shape, "<f4"))
        run = msprobe.compare(path, path)
        row = run.only
        assert run.code == 0 and row["verdict"] == "pass" and row["error"] == 0 and run.summary["max_error"] == 0
        assert row["reference"]["shape"] == list(shape)
        assert row["metrics"]["cosine"] is None and row["metrics"]["max_abs"] is None and row["metrics"]["elements"] == 0


def test_empty_against_full_fails(msprobe, tmp_path):
    run = msprobe.compare(write_npy(tmp_path / "a.npy", numpy.zeros((0, 3))), write_npy(tmp_path / "b.npy", numpy.zeros((2, 3))))
    assert run.code == 1 and run.only["error"] == "Infinity"


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_one_element_is_compared_like_any_other(msprobe, tmp_path, shape):
    a = write_npy(tmp_path / "a.npy", numpy.full(shape, 2.0))
    b = write_npy(tmp_path / "b.npy", numpy.full(shape, 3.0))
    row = msprobe.compare(a, b).only
    assert row["verdict"] == "fail" and row["metrics"]["cosine"] == 1 and row["metrics"]["max_abs"] == 1 and row["error"] == 0.5
    assert row["metrics"]["max_abs_at"] == str([0] * len(shape)) and row["reference"]["shape"] == list(shape)
    assert msprobe.compare(a, a).only["verdict"] == "pass"
    nan = write_npy(tmp_path / "nan.npy", numpy.full(shape, numpy.nan))
    assert msprobe.compare(a, nan).only["error"] == "Infinity"


@pytest.mark.parametrize("left,right", [((2, 3), (3, 2)), ((1, 4), (4,)), ((6,), (2, 3)), ((3,), ()), ((1, 1, 2), (2, 1, 1))])
def test_other_shapes_fail_and_are_reshaped_only_on_request(msprobe, tmp_path, left, right):
    count = numpy.prod(left, dtype=int)
    a = write_npy(tmp_path / "a.npy", numpy.arange(count, dtype="<f4").reshape(left))
    b = write_npy(tmp_path / "b.npy", numpy.arange(numpy.prod(right, dtype=int), dtype="<f4").reshape(right))
    run = msprobe.compare(a, b)
    assert run.code == 1 and run.only["verdict"] == "fail" and run.only["error"] == "Infinity"
    assert str(list(left)) in run.only["why"] and str(list(right)) in run.only["why"]
    run = msprobe.compare(a, b, "--reshape")
    if count == numpy.prod(right, dtype=int):
        assert run.code == 0 and run.only["verdict"] == "warn" and "reshaped" in run.only["why"]
    else:
        assert run.code == 1


# ---- .npy in all its forms ----

@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?", "c8", "c16"])
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("fortran", [False, True])
def test_corpus_c_npy_of_every_dtype_byte_order_and_layout(against_npy, tmp_path, dtype, order, fortran):
    array = (numpy.arange(105).reshape(5, 3, 7) % 3).astype(dtype)
    if dtype.startswith("c"):
        array = array + array * 2j
    path = tmp_path / "x.npy"
    stored = array.astype(numpy.dtype(order + dtype))
    path.write_bytes(npy_bytes(stored.tobytes("F" if fortran else "C"), stored.dtype.str, array.shape, fortran=fortran))
    assert numpy.array_equal(numpy.load(path), array)
    against_npy(path, array.astype(dtype))


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("header_bytes", [None, 320, 1024, 4096, 60032])
def test_case_48_npy_headers_of_every_version_and_length(against_npy, tmp_path, version, header_bytes):
    path = tmp_path / "x.npy"
    path.write_bytes(npy_bytes(VALUES.tobytes(), "<f4", VALUES.shape, version=version, header_bytes=header_bytes))
    against_npy(path, VALUES)


def test_case_48_an_npy_header_longer_than_64_kib(against_npy, tmp_path):
    path = tmp_path / "x.npy"
    path.write_bytes(npy_bytes(VALUES.tobytes(), "<f4", VALUES.shape, version=2, header_bytes=1 << 18))
    against_npy(path, VALUES)


@pytest.mark.parametrize("text", [
    "{'shape': (2, 3, 4), 'fortran_order': False, 'descr': '<f4'}",
    '{"descr":"<f4","fortran_order":False,"shape":(2,3,4)}',
    "{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 3L, 4L), }",
    "{ 'descr' : '<f4' ,\t'fortran_order' : False , 'shape' : ( 2 , 3 , 4 , ) , }",
], ids=["order", "json quotes", "python 2", "spaces"])
def test_npy_headers_of_other_writers(against_npy, tmp_path, text):
    path = tmp_path / "x.npy"
    path.write_bytes(npy_bytes(VALUES.tobytes(), "<f4", VALUES.shape, text=text))
    against_npy(path, VALUES)


def test_case_48_dimensions_beyond_2_to_31(msprobe, tmp_path):
    path = tmp_path / "x.npy"
    path.write_bytes(npy_bytes(b"", "<f4", (3000000000, 0)))
    row = msprobe.compare(path, path).only
    assert row["verdict"] == "pass" and row["reference"]["shape"] == [3000000000, 0]


def test_corpus_e_bytes_behind_the_data_do_not_matter(against_npy, tmp_path):
    path = tmp_path / "x.npy"
    path.write_bytes(npy_bytes(VALUES.tobytes(), "<f4", VALUES.shape) + b"trailing")
    against_npy(path, VALUES)


def write_sparse_pt(path, values, stride):
    """A ZIP64 archive whose one storage is longer than 4 GiB; `values` lie `stride` elements apart, the rest is a hole."""
    size = ((len(values) - 1) * stride + 1) * 4
    pickle_bytes = b"\x80\x02" + pt_tensor("FloatStorage", "0", size // 4, (len(values),), (stride,)) + b"."
    with open(path, "wb") as file:
        entries = []
        for name, length in ((b"x/data.pkl", len(pickle_bytes)), (b"x/data/0", size)):
            entries.append((name, length, file.tell()))
            large = length > 0xFFFFFFFE
            extra = struct.pack("<HHQQ", 1, 16, length, length) if large else b""
            short = 0xFFFFFFFF if large else length
            file.write(struct.pack("<IHHHHHIIIHH", 0x04034B50, 45, 0, 0, 0, 0, 0, short, short, len(name), len(extra)) + name + extra)
            start = file.tell()
            if name.endswith(b"pkl"):
                file.write(pickle_bytes)
            else:
                for i, value in enumerate(values):
                    file.seek(start + i * stride * 4)
                    file.write(struct.pack("<f", value))
        directory = file.tell()
        for name, length, offset in entries:
            large = length > 0xFFFFFFFE
            extra = struct.pack("<HHQQ", 1, 16, length, length) if large else b""
            short = 0xFFFFFFFF if large else length
            file.write(struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 45, 45, 0, 0, 0, 0, 0, short, short, len(name), len(extra), 0, 0, 0, 0, offset)
                       + name + extra)
        end = file.tell()
        file.write(struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, 2, 2, end - directory, directory))
        file.write(struct.pack("<IIQI", 0x07064B50, 0, end, 1))
        file.write(struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 2, 2, end - directory, 0xFFFFFFFF, 0))
    return path


def test_cases_49_and_62_and_corpus_e_archives_beyond_4_gib_are_read(against_npy, tmp_path):
    path = write_sparse_pt(tmp_path / "x.pt", [1.0, 2.0, 3.0, 4.0], 1 << 29)
    assert path.stat().st_size > 6 << 30 and path.stat().st_blocks * 512 < 1 << 20
    with zipfile.ZipFile(path) as archive:  # Python's reader agrees that this is an archive
        assert archive.getinfo("x/data/0").file_size > 6 << 30
    against_npy(path, numpy.array([1, 2, 3, 4], "<f4"))


def test_corpus_e_data_beyond_4_gib_of_a_raw_file_are_found(msprobe, tmp_path):
    """A header that promises 5 GiB of a sparse file that has 4: told without reading them."""
    path = tmp_path / "x.bin"
    with open(path, "wb") as file:
        file.truncate(4 << 30)
    write_bin(tmp_path / "y.bin", b"", "u8", [5 << 30])
    (tmp_path / "y.bin.json").rename(tmp_path / "x.bin.json")
    msprobe.error("compare", "-r", path, "-t", path, code="E4002", mentions=[f"expected {5 << 30} bytes, found {4 << 30}"])


# ---- bf16 and fp8 in files of programs that do not know them ----

@pytest.mark.parametrize("descr", ["<V2", "|V2", "<g2", "bfloat16"])
def test_case_52_bf16_in_npy_is_recognised(against_npy, tmp_path, descr):
    values = numpy.array([1.0, -2.5, 3.140625, 1e30], "f4")
    exact = (values.view("u4") & 0xFFFF0000).view("f4")
    path = tmp_path / "x.npy"
    path.write_bytes(npy_bytes(to_bf16(exact), descr, values.shape))
    assert against_npy(path, exact)["target"]["dtype"] == "bf16"


def test_case_52_an_opaque_dtype_can_be_named(msprobe, against_npy, tmp_path):
    path = tmp_path / "x.npy"
    path.write_bytes(npy_bytes(numpy.array([0x38, 0x40, 0xB8], "u1").tobytes(), "|V1", (3,)))
    msprobe.error("compare", "-r", path, "-t", path, code="E4009", mentions=["V1", "--dtype-map"])
    assert against_npy(path, numpy.array([1, 2, -1], "f4"), "--dtype-map", "V1=f8e4m3fn")["target"]["dtype"] == "f8e4m3fn"
    path.write_bytes(npy_bytes(numpy.array([1, 2, -1], "<f2").tobytes(), "<V2", (3,)))
    against_npy(path, numpy.array([1, 2, -1], "f4"), "--dtype-map", "V2=f16")


# ---- .pt ----

@pytest.mark.parametrize("strides,offset", [(None, 0), ((1, 2, 6), 0), ((12, 1, 3), 0), ((0, 0, 1), 5), ((24, 8, 2), 1), ((0, 0, 0), 3)],
                         ids=["dense", "reversed", "permuted", "expanded", "sliced", "one element"])
@pytest.mark.parametrize("storage,dtype", [("FloatStorage", "<f4"), ("HalfStorage", "<f2"), ("DoubleStorage", "<f8"), ("LongStorage", "<i8"),
                                           ("CharStorage", "i1"), ("ComplexDoubleStorage", "<c16")])
def test_case_47_strides_and_offsets_of_a_pt_are_honoured(against_npy, tmp_path, strides, offset, storage, dtype):
    data = numpy.arange(64).astype(dtype)
    shape = (2, 3, 4)
    path = tmp_path / "x.pt"
    path.write_bytes(pt_bytes(pt_tensor(storage, "0", data.size, shape, strides, offset), {"0": data.tobytes()}))
    steps = [step * data.itemsize for step in strides or dense_strides(shape)]
    want = numpy.lib.stride_tricks.as_strided(data[offset:], shape, steps)
    against_npy(path, numpy.ascontiguousarray(want))


def test_case_47_a_large_transposed_pt_is_not_read_linearly(against_npy, tmp_path):
    data = numpy.random.default_rng(2).normal(size=(301, 517)).astype("<f4")
    path = tmp_path / "x.pt"
    path.write_bytes(pt_bytes(pt_tensor("FloatStorage", "0", data.size, (517, 301), (1, 517)), {"0": data.tobytes()}))
    against_npy(path, numpy.ascontiguousarray(data.T))


def test_tensors_that_share_a_storage_are_both_read(msprobe, tmp_path):
    path = tmp_path / "x.pt"
    item = lambda offset: pt_tensor("FloatStorage", "0", 24, (4,), None, offset)
    path.write_bytes(pt_bytes(pt_dict([("first", item(0)), ("second", item(20))]), {"0": VALUES.tobytes()}))
    write_npy(tmp_path / "want/first.npy", VALUES.ravel()[:4])
    write_npy(tmp_path / "want/second.npy", VALUES.ravel()[20:])
    (tmp_path / "got").mkdir()
    path.rename(tmp_path / "got/x.pt")
    run = msprobe.compare(tmp_path / "want", tmp_path / "got", "--error-threshold", "0")
    assert run.code == 0 and [row["name"] for row in run.rows] == ["first", "second"]


def test_case_61_nested_lists_and_dicts_of_a_pt_are_members(msprobe, tmp_path):
    item = lambda: pt_tensor("FloatStorage", "0", 24, (24,))
    path = tmp_path / "x.pt"
    path.write_bytes(pt_bytes(pt_dict([("net", pt_dict([("weight", item()), ("layers", pt_list([item(), item()]))])), ("epoch", b"K\x05")]),
                              {"0": VALUES.tobytes()}))
    run = msprobe.compare(path, path)
    assert [row["name"] for row in run.rows] == ["net.weight", "net.layers.0", "net.layers.1"]


def test_case_53_bf16_in_a_pt_is_read_natively(against_npy, tmp_path):
    exact = numpy.array([1.0, -2.5, 0.09375], "f4")
    assert against_npy(write_pt(tmp_path / "x.pt", to_bf16(exact), "bf16", (3,)), exact)["target"]["dtype"] == "bf16"


def test_case_49_a_pt_with_zip64_local_headers(against_npy, tmp_path):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in (("x/data.pkl", b"\x80\x02" + pt_tensor("FloatStorage", "0", 24, VALUES.shape) + b"."), ("x/data/0", VALUES.tobytes())):
            with archive.open(name, "w", force_zip64=True) as member:
                member.write(data)
    assert struct.pack("<HH", 1, 16) in out.getvalue()
    path = tmp_path / "x.pt"
    path.write_bytes(out.getvalue())
    against_npy(path, VALUES)


def test_corpus_e_a_compressed_pt_is_refused_before_it_is_unpacked(msprobe, tmp_path):
    """64 MiB of zeros in 64 KiB: torch never compresses, so nothing is lost."""
    path = tmp_path / "x.pt"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x/data.pkl", b"\x80\x02" + pt_tensor("FloatStorage", "0", 1 << 24, (1 << 24,)) + b".")
        archive.writestr("x/data/0", bytes(1 << 26))
    msprobe.error("compare", "-r", path, "-t", path, code="E4007", mentions=["compressed"])


@pytest.mark.parametrize("make", [
    lambda: b"]q\0h\0a" + b"h\0e",                                    # nonsense after a list in itself
    lambda: b"]q\0h\0a",                                               # a list that holds itself
    lambda: b"]q\0(" + b"h\0" * 1000 + b"e",                           # many times
    lambda: b"]" * 100000 + b"a" * 99999,                              # deep
    lambda: b"]q\0" + b"".join(b"](h" + bytes([i]) + b"h" + bytes([i]) + b"eq" + bytes([i + 1]) for i in range(60)),  # 2^60 paths
], ids=["nonsense", "cycle", "cycles", "deep", "exponential"])
def test_corpus_e_a_cyclic_or_deep_pickle_ends(msprobe, tmp_path, make):
    path = tmp_path / "x.pt"
    path.write_bytes(pt_bytes(make(), {}))
    run = msprobe("compare", "-r", path, "-t", path, timeout=20)
    assert run.code == 2 and run.out == "" and run.err.splitlines()[-1].startswith("msprobe: error E40")


def test_a_pickle_of_plain_python_objects_holds_no_tensor(msprobe, tmp_path):
    path = tmp_path / "x.pt"
    path.write_bytes(pt_bytes(pickle.dumps({"lr": 0.1, "names": ["a", "b"]}, protocol=2)[2:-1], {}))
    msprobe.error("compare", "-r", path, "-t", path, code="E4003", mentions=[path])


def test_a_pt_without_the_zip_form_says_how_to_convert_it(msprobe, tmp_path):
    path = tmp_path / "x.pt"
    path.write_bytes(pickle.dumps(0x1950A86A20F9469CFC6C, protocol=2) + pickle.dumps(1001, protocol=2))
    msprobe.error("compare", "-r", path, "-t", path, code="E4001", mentions=["torch.save"])


# ---- content decides, not the suffix ----

def test_a_file_with_another_suffix_is_known_by_its_content(against_npy, tmp_path):
    for write, name in ((write_npy, "x.dat"), (write_npy, "x.pt"), (write_pt, "x.npy"), (write_pt, "noname")):
        against_npy(write(tmp_path / name, VALUES), VALUES)


def test_suffixes_match_without_regard_to_case(msprobe, tmp_path):
    for side in ("ref", "target"):
        write_npy(tmp_path / side / "A.NPY", VALUES)
        write_bin(tmp_path / side / "B.BIN", VALUES)
    assert [row["name"] for row in msprobe.compare(tmp_path / "ref", tmp_path / "target").rows] == ["A", "B"]


# ---- formats on the two sides may differ ----

@pytest.mark.parametrize("left,right", itertools.permutations(["npy", "pt", "bin"], 2))
def test_the_two_sides_may_have_other_formats(msprobe, tmp_path, left, right):
    for side, suffix in (("ref", left), ("target", right)):
        path = tmp_path / side / f"x.{suffix}"
        if suffix == "bin":
            write_bin(path, VALUES, shape=VALUES.shape)
        else:
            {"npy": write_npy, "pt": write_pt}[suffix](path, VALUES)
    run = msprobe.compare(tmp_path / "ref", tmp_path / "target")
    assert run.code == 0 and run.only["name"] == "x" and run.only["error"] == 0
