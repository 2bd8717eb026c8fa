"""Cases 1 to 33, the table of other tools' failures and the corpus A and B of docs (cases.md), each with inputs made here.

Every test writes two single files and looks at the one row.
"""
import csv
import io
import itertools
import struct

import numpy
import pytest

from dump_tree import Dump
from tensor_files import DTYPES, pt_bytes, pt_list, pt_tensor, to_bf16, write_npy

INF, NAN = float("inf"), float("nan")


@pytest.fixture
def judge(msprobe, tmp_path):
    """judge(reference, target, *options) -> the row."""
    def run(reference, target, *options, dtype=None):
        for side, array in (("ref", reference), ("target", target)):
            write_npy(tmp_path / f"{side}.npy", numpy.asarray(array, dtype))
        done = msprobe.compare(tmp_path / "ref.npy", tmp_path / "target.npy", *options)
        row = done.only
        assert done.code == {"pass": 0, "warn": 0, "fail": 1}[row["verdict"]]
        assert done.summary["max_error"] == row["error"]
        return row
    return run


# ---- integers ----

def test_case_1_unsigned_differences_do_not_wrap(judge):
    row = judge([10, 10], [9, 14], dtype="u1")
    assert (row["metrics"]["max_abs"], row["metrics"]["max_abs_index"], row["verdict"]) == (4, 1, "fail")


@pytest.mark.parametrize("reference,target,difference", [
    (140499600015872, 140499600015360, 512), (1589056744433029441, 1589056744433029431, 10), (2**53, 2**53 + 1, 1),
    (-2**63, 2**63 - 1, 18446744073709551615), (2**62, 2**62 + 1, 1)])
def test_case_2_int64_differences_are_exact(judge, reference, target, difference):
    row = judge([reference], [target], dtype="i8")
    assert row["metrics"]["max_abs"] == float(difference) and row["verdict"] == "fail" and row["error"] > 0


def test_case_2_large_equal_int64_pass_with_error_0(judge):
    row = judge([2**53 + 1, -2**63], [2**53 + 1, -2**63], dtype="i8")
    assert row["verdict"] == "pass" and row["error"] == 0 and row["metrics"]["max_abs"] == 0


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
def test_corpus_b_integers_at_their_limits_differ_by_the_whole_range(judge, dtype):
    """Case 26 and the table: int32 min against max passes in two tools."""
    limits = numpy.iinfo(dtype)
    row = judge([limits.min, 0], [limits.max, 0], dtype=dtype)
    assert row["metrics"]["max_abs"] == float(limits.max - limits.min) and row["verdict"] == "fail"
    row = judge([limits.max, limits.min], [limits.max - 1, limits.min], dtype=dtype)
    assert row["metrics"]["max_abs"] == 1 and row["verdict"] == "fail" and row["threshold"] == 0


def test_uint64_0_against_1_differs_by_1(judge):
    assert judge([0], [1], dtype="u8")["metrics"]["max_abs"] == 1
    assert judge([2**64 - 1], [2**64 - 2], dtype="u8")["metrics"]["max_abs"] == 1


def test_case_3_bool_is_compared_as_xor_and_tells_the_share(judge):
    row = judge([True, False, True, False], [True, True, True, False], dtype="?")
    assert row["verdict"] == "fail" and row["metrics"]["max_abs"] == 1 and row["metrics"]["mean_abs"] == 0.25
    assert judge([True, False], [True, False], dtype="?")["verdict"] == "pass"


def test_case_29_norms_of_integers_do_not_overflow(judge):
    row = judge(numpy.full(1000, 2**31 - 1), numpy.full(1000, -2**31), dtype="i4")
    assert row["metrics"]["l2"] == pytest.approx(4294967295 * 1000**0.5, rel=1e-12)
    assert row["metrics"]["norm_ratio"] == pytest.approx(1, rel=1e-8)


def test_case_33_flips_of_a_boolean_output_are_a_rate(judge):
    reference = numpy.arange(1000) % 2 == 0
    target = reference.copy()
    target[:7] ^= True
    row = judge(reference, target)
    assert row["verdict"] == "fail" and row["metrics"]["mean_abs"] == 0.007 and row["metrics"]["l1"] == 7


# ---- dtypes may differ ----

def test_case_4_half_against_float_is_compared_after_widening_and_both_dtypes_are_told(judge):
    values = numpy.linspace(-3, 3, 50).astype("f2")
    row = judge(values.astype("f4"), values)
    assert row["verdict"] == "pass" and row["error"] == 0
    assert (row["reference"]["dtype"], row["target"]["dtype"]) == ("f32", "f16")
    assert row["threshold"] == 4 * 2**-11


def test_a_cast_of_any_values_to_fp16_passes(judge):
    values = numpy.random.default_rng(1).normal(size=1000).astype("f4")
    assert judge(values, values.astype("f2"))["verdict"] == "pass"


def test_an_integer_against_a_float_warns(judge):
    row = judge(numpy.arange(5), numpy.arange(5.0))
    assert row["verdict"] == "warn" and row["error"] == 0 and "i64" in row["why"] and "f64" in row["why"]


# ---- sums that neither vanish nor overflow ----

def test_case_6_cosine_of_values_near_the_end_of_f32(judge):
    row = judge([2.1e38, 3.0e38], [1, 1], dtype="f4")
    assert row["metrics"]["cosine"] == pytest.approx(5.1 / (2 * (2.1**2 + 3**2))**0.5, rel=1e-6)


def test_case_7_cosine_of_fp16_is_accumulated_wide(judge):
    generator = numpy.random.default_rng(7)
    a, b = ((generator.normal(size=4096) * 2e-4).astype("f2") for _ in range(2))
    wide_a, wide_b = a.astype("f8"), b.astype("f8")
    want = wide_a @ wide_b / numpy.linalg.norm(wide_a) / numpy.linalg.norm(wide_b)
    assert judge(a, b)["metrics"]["cosine"] == pytest.approx(want, rel=1e-9)
    assert judge(a, a)["metrics"]["cosine"] == 1
    big = numpy.full(5000, 60000, "f2")  # its sum of squares is far beyond fp16
    assert judge(big, big)["metrics"]["cosine"] == 1


@pytest.mark.parametrize("scale", [1e-170, 1e-30, 1e30, 1e200, 5e-324 * 2**20])
def test_the_opposite_has_cosine_minus_1_at_any_scale(judge, scale):
    """1e30 v against -1e30 v is cosine 1 in one peer."""
    values = numpy.array([1.0, 2.0, -3.0]) * scale
    row = judge(values, -values)
    assert row["metrics"]["cosine"] == pytest.approx(-1, abs=1e-12) and row["verdict"] == "fail"
    assert row["metrics"]["rel_l2"] == pytest.approx(2, rel=1e-12) and row["metrics"]["cosine_distance"] == pytest.approx(2, rel=1e-12)


def test_trap_10_tiny_opposites_are_no_match(judge):
    """Norms below 2.2e-16 on both sides are cosine 1 whatever the sign in the peer, and 1e-20 is printed as 0.0."""
    row = judge([1e-20, 1e-20], [-1e-20, -1e-20])
    assert row["metrics"]["cosine"] == -1 and row["metrics"]["max_abs"] == 2e-20 and row["verdict"] == "fail"


def test_case_25_1e_20_against_2e_20_differs(judge):
    row = judge([1e-20], [2e-20])
    assert row["verdict"] == "fail" and row["metrics"]["rel_l2"] == 1 and row["metrics"]["max_abs"] == 1e-20


def test_case_28_numbers_are_stored_as_they_are(msprobe, tmp_path):
    reference, target = numpy.array([1.0, 0.1]), numpy.array([1.0 + 2**-50, 0.1])
    write_npy(tmp_path / "ref/a.npy", reference)
    write_npy(tmp_path / "target/a.npy", target)
    run = msprobe("compare", "-r", tmp_path / "ref", "-t", tmp_path / "target", "-o", "-", "-o", tmp_path / "x.csv")
    assert run.only["metrics"]["max_abs"] == 2**-50
    assert "8.881784197001252e-16" in run.out
    line = next(csv.DictReader(io.StringIO((tmp_path / "x.csv").read_text("utf-8-sig"))))
    assert float(line["max_abs"]) == 2**-50 and float(line["rel_l2"]) == run.only["metrics"]["rel_l2"]


# ---- what cosine alone does not see ----

def test_case_10_a_scaled_target_fails_and_is_called_a_scale(judge):
    values = numpy.random.default_rng(3).normal(size=100)
    row = judge(values, 2 * values)
    assert row["metrics"]["cosine"] == pytest.approx(1, abs=1e-15) and row["metrics"]["norm_ratio"] == 2
    assert row["verdict"] == "fail" and "2 x the reference: a scale" in row["why"]


def test_case_11_error_is_normalised_by_size(judge):
    """cosine 0.99999 and an euclidean distance of tens: the relative error says how bad it is."""
    generator = numpy.random.default_rng(5)
    values = generator.normal(size=100000) * 100
    noisy = values * (1 + 2e-3 * generator.normal(size=values.size))
    row = judge(values, noisy)
    assert row["metrics"]["cosine"] > 0.99999 and row["metrics"]["l2"] > 50
    assert row["metrics"]["rel_l2"] == pytest.approx(2e-3, rel=0.05) and row["error"] == row["metrics"]["rel_l2"]
    assert row["verdict"] == "fail"


def test_case_24_a_missing_tile_fails_although_the_whole_looks_good(judge):
    reference = numpy.ones(4096 * 512, "f2")
    target = reference.copy()
    target[4096 * 300:4096 * 301] = 0
    row = judge(reference, target, "--error-threshold", "0.05")
    assert row["error"] < 0.05 and row["verdict"] == "fail" and "block" in row["why"]
    assert row["metrics"]["block_error"] == 1 and row["metrics"]["block_error_at"] == f"[{4096 * 300}]"


def test_case_32_rounding_noise_of_f32_is_no_alarm(judge):
    generator = numpy.random.default_rng(9)
    values = (generator.normal(size=10000) * 30).astype("f4")
    row = judge(values, numpy.nextafter(values, numpy.float32(INF)))
    assert row["verdict"] == "pass" and row["metrics"]["max_abs"] > 5e-6 and row["metrics"]["max_ulp"] == 1


# ---- NaN and infinity ----

CLASSES = {"finite": 5.0, "+inf": INF, "-inf": -INF, "nan": NAN}


@pytest.mark.parametrize("reference,target", itertools.product(CLASSES, CLASSES))
def test_cases_15_and_16_only_equal_classes_match(judge, reference, target):
    row = judge([1, CLASSES[reference], 2], [1, CLASSES[target], 2], dtype="f4")
    if reference != target:
        assert row["verdict"] == "fail" and row["error"] == "Infinity" and row["metrics"]["class_mismatch"] == 1
        assert row["metrics"]["inf_sign_mismatch"] == ({reference, target} == {"+inf", "-inf"})
    else:
        assert row["verdict"] == ("warn" if reference == "nan" else "pass") and row["error"] == 0


def test_case_17_a_target_full_of_nan_fails_at_any_threshold(judge):
    row = judge([1.0, 2.0], [NAN, NAN], "--error-threshold", "1e300")
    assert row["verdict"] == "fail" and row["error"] == "Infinity" and row["metrics"]["nan_target"] == 2


def test_the_same_nan_is_a_matter_of_policy_and_always_counted(judge):
    for policy, verdict in (("equal", "pass"), ("warn", "warn"), ("fail", "fail")):
        row = judge([1, NAN], [1, NAN], "--nan", policy)
        assert row["verdict"] == verdict and row["metrics"]["nan_both"] == 1
    assert judge([1, NAN], [1, NAN])["verdict"] == "warn"


def test_all_nan_never_scores_a_perfect_match(judge):
    row = judge([NAN, NAN], [NAN, NAN])
    assert row["verdict"] == "warn" and row["metrics"]["cosine"] is None and row["metrics"]["max_abs"] is None


def test_nan_in_the_target_alone_has_no_perfect_cosine_to_hide_behind(judge):
    row = judge([1, 2, 3], [1, NAN, 3], dtype="f4")
    assert row["verdict"] == "fail" and "1 NaN" in row["why"] and "target" in row["why"]
    assert row["metrics"]["nan_target"] == 1 and row["metrics"]["nan_ref"] == 0


def test_cases_12_and_22_classes_are_counted_by_side(judge):
    row = judge([NAN, INF, 1, 0, 1e-40, 6], [1, NAN, INF, -0.0, 0, -INF], dtype="f4")
    counts = {key: row["metrics"][key] for key in ("nan_ref", "nan_target", "inf_ref", "inf_target", "zeros_ref", "zeros_target",
                                                   "subnormals_ref", "subnormals_target", "class_mismatch", "elements")}
    assert counts == {"nan_ref": 1, "nan_target": 1, "inf_ref": 1, "inf_target": 2, "zeros_ref": 1, "zeros_target": 2,
                      "subnormals_ref": 1, "subnormals_target": 0, "class_mismatch": 4, "elements": 6}


def test_case_14_an_overflow_of_fp16_is_called_one(msprobe, tmp_path):
    big = numpy.array([1, 70000, 3], "f4")
    for side, array in (("ref", big), ("target", numpy.array([1, INF, 3], "f2"))):
        Dump(tmp_path / side).call("Functional.matmul.0.forward", [], [array]).write()
    row = msprobe.compare(tmp_path / "ref", tmp_path / "target").only
    assert row["verdict"] == "fail" and "overflow" in row["why"] and "1 inf" in row["why"]


def test_case_20_saturation_is_excused_only_when_asked(judge):
    reference, target = numpy.array([1, INF], "f4"), numpy.array([1, 65504], "f2")
    assert judge(reference, target)["verdict"] == "fail"
    for option in ("--saturate", "--saturate=f16"):
        row = judge(reference, target, option)
        assert row["verdict"] == "warn" and row["metrics"]["saturated"] == 1 and row["metrics"]["class_mismatch"] == 0
    assert judge(reference, target.astype("f4"), "--saturate=f16")["verdict"] == "warn"
    assert judge(reference, target.astype("f4"), "--saturate")["verdict"] == "fail"
    assert judge(reference, -target, "--saturate")["verdict"] == "fail", "the other sign"
    assert judge(target, reference, "--saturate")["verdict"] == "fail", "the target's infinity is never excused"


def test_case_19_subnormals_count_as_zero_when_asked(judge):
    for target in (0.0, -1e-41):
        assert judge([1e-40], [target], dtype="f4")["verdict"] == "fail"
        row = judge([1e-40], [target], "--ftz", dtype="f4")
        assert row["verdict"] == "pass" and row["error"] == 0 and row["metrics"]["subnormals_ref"] == 1
    assert judge([1e-37], [0.0], "--ftz", dtype="f4")["verdict"] == "fail", "normal numbers are no zeros"


# ---- zeros in the reference ----

def test_a_reference_of_zeros_fails_when_the_target_is_100(judge):
    row = judge([0, 0], [100, 100], dtype="f4")
    metrics = row["metrics"]
    assert row["verdict"] == "fail" and metrics["max_abs"] == 100 and row["error"] == "Infinity"
    assert metrics["max_rel"] is None and metrics["cosine"] is None and metrics["zero_ref_mismatch"] == 2


def test_two_tensors_of_zeros_are_equal(judge):
    row = judge([0, 0], [0, -0.0], dtype="f4")
    assert row["verdict"] == "pass" and row["error"] == 0 and row["metrics"]["cosine"] == 1 and row["metrics"]["both_zero"] is True


def test_elements_with_reference_0_are_not_dropped(judge):
    row = judge([1, 0], [1, 100], dtype="f4")
    assert row["metrics"]["max_abs"] == 100 and row["metrics"]["zero_ref_max_abs"] == 100 and row["verdict"] == "fail"


def test_trap_11_no_eps_enters_the_relative_error(judge):
    """0 against 1e-3 is a relative error of 8388.6 or 4.5e12 elsewhere."""
    row = judge([0, 1, 2], [1e-3, 1, 2], dtype="f4")
    assert row["metrics"]["max_rel"] == 0 and row["metrics"]["zero_ref_mismatch"] == 1
    assert row["metrics"]["zero_ref_max_abs"] == pytest.approx(1e-3, rel=1e-6)


# ---- complex ----

@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_complex_is_compared_with_its_imaginary_part(judge, dtype):
    assert judge([1 + 1j, 2], [1 + 1j, 2], dtype=dtype)["verdict"] == "pass"
    row = judge([1 + 1j, 2], [1 + 2j, 2], dtype=dtype)
    assert row["verdict"] == "fail" and row["metrics"]["max_abs"] == 1 and row["metrics"]["max_abs_index"] == 0
    row = judge([3 + 4j], [0], dtype=dtype)
    assert row["metrics"]["max_abs"] == 5
    assert judge([complex(1, INF)], [complex(1, -INF)], dtype=dtype)["metrics"]["inf_sign_mismatch"] == 1


def test_complex_against_real_warns(judge):
    row = judge(numpy.array([1, 2], "c16"), numpy.array([1.0, 2.0]))
    assert row["verdict"] == "warn" and row["error"] == 0


# ---- the rule of numpy, on request ----

def test_close_violations_follow_the_rule_of_numpy(judge):
    generator = numpy.random.default_rng(11)
    reference = generator.normal(size=1000)
    target = reference + generator.normal(size=1000) * 1e-3
    for atol, rtol in ((1e-3, 0), (0, 1e-3), (5e-4, 5e-4)):
        want = int((~numpy.isclose(target, reference, atol=atol, rtol=rtol)).sum())
        assert 0 < want < 1000
        assert judge(reference, target, "--atol", str(atol), "--rtol", str(rtol))["metrics"]["close_violations"] == want
    assert judge(reference, target)["metrics"]["close_violations"] is None


# ---- corpus A: every class of every float against every other ----

PATTERNS = {  # sign-less bits: zero, subnormal, min normal, one, max, inf, NaN, another NaN
    "f64": ("<Q", 64, [0, 3, 1 << 52, 0x3FF << 52, (0x7FF << 52) - 1, 0x7FF << 52, 0x7FF8 << 48, (0x7FF8 << 48) + 5]),
    "f32": ("<I", 32, [0, 3, 1 << 23, 0x7F << 23, (0xFF << 23) - 1, 0xFF << 23, 0x7FC << 20, (0x7FC << 20) + 5]),
    "f16": ("<H", 16, [0, 3, 1 << 10, 15 << 10, (31 << 10) - 1, 31 << 10, 0x7E00, 0x7E05]),
    "bf16": ("<H", 16, [0, 3, 1 << 7, 0x7F << 7, (0xFF << 7) - 1, 0xFF << 7, 0x7FC0, 0x7FC5]),
    "f8e5m2": ("<B", 8, [0, 3, 1 << 2, 15 << 2, (31 << 2) - 1, 31 << 2, 0x7E, 0x7F]),
    "f8e4m3fn": ("<B", 8, [0, 3, 1 << 3, 7 << 3, 0x7E, None, 0x7F, 0x7F]),  # no infinity
}
KINDS = ["zero", "finite", "finite", "finite", "finite", "inf", "nan", "nan"]


@pytest.mark.parametrize("dtype", PATTERNS)
def test_corpus_a_only_equal_classes_match_in_every_dtype(msprobe, tmp_path, dtype):
    """All pairs of {0, subnormal, min normal, 1, max, inf, NaN, NaN with a payload} with both signs, one row each."""
    form, width, bits = PATTERNS[dtype]
    values = [(kind, sign, struct.pack(form, pattern | sign << width - 1))
              for kind, pattern in zip(KINDS, bits) if pattern is not None for sign in (0, 1)]
    pairs = list(itertools.product(values, values))
    storage = DTYPES[dtype][2]
    for side, position in (("ref", 0), ("target", 1)):
        items = [pt_tensor(storage, str(i), 1, ()) for i in range(len(pairs))]
        data = {str(i): pair[position][2] for i, pair in enumerate(pairs)}
        (tmp_path / f"{side}.pt").write_bytes(pt_bytes(pt_list(items), data))
    run = msprobe.compare(tmp_path / "ref.pt", tmp_path / "target.pt", "--noise-dtype", "f32")
    assert len(run.rows) == len(pairs) >= 196
    for row, ((kind_r, sign_r, bits_r), (kind_t, sign_t, bits_t)) in zip(run.rows, pairs):
        finite_r, finite_t = kind_r in ("zero", "finite"), kind_t in ("zero", "finite")
        equal = (bits_r == bits_t) or kind_r == kind_t == "zero" or kind_r == kind_t == "nan"
        want = "fail" if not equal else "warn" if kind_r == "nan" else "pass"
        assert row["verdict"] == want, (row["name"], kind_r, sign_r, kind_t, sign_t, row["error"], row["why"])
        mismatch = not (finite_r and finite_t) and not (kind_r == kind_t and (kind_r == "nan" or sign_r == sign_t))
        assert row["metrics"]["class_mismatch"] == mismatch
        assert (row["error"] == 0) == (want != "fail")


@pytest.mark.parametrize("dtype", ["bf16", "f8e4m3fn", "f8e5m2"])
def test_case_53_narrow_floats_are_decoded_to_their_exact_values(msprobe, tmp_path, dtype):
    """Every bit pattern that is no NaN, against the same value as f32 computed by the definition of the format."""
    exponent_bits, fraction_bits, bias = {"bf16": (8, 7, 127), "f8e4m3fn": (4, 3, 7), "f8e5m2": (5, 2, 15)}[dtype]
    width = 1 + exponent_bits + fraction_bits
    patterns, values = [], []
    for bits in range(2**width):
        exponent, fraction = bits >> fraction_bits & 2**exponent_bits - 1, bits & 2**fraction_bits - 1
        top = exponent == 2**exponent_bits - 1
        if (dtype == "f8e4m3fn" and top and fraction == 7) or (dtype != "f8e4m3fn" and top and fraction):
            continue
        if top and dtype != "f8e4m3fn":
            value = INF
        elif exponent:
            value = (1 + fraction / 2**fraction_bits) * 2.0**(exponent - bias)
        else:
            value = fraction / 2**fraction_bits * 2.0**(1 - bias)
        patterns.append(bits)
        values.append(-value if bits >> width - 1 else value)
    raw = numpy.array(patterns, "<u2" if width == 16 else "u1").tobytes()
    storage = DTYPES[dtype][2]
    (tmp_path / "narrow.pt").write_bytes(pt_bytes(pt_tensor(storage, "0", len(patterns), (len(patterns),)), {"0": raw}))
    wide = write_npy(tmp_path / "wide.npy", numpy.array(values, "<f4"))
    row = msprobe.compare(wide, tmp_path / "narrow.pt", "--error-threshold=0").only
    assert row["verdict"] == "pass" and row["error"] == 0 and row["metrics"]["max_abs"] == 0, row["why"]
    assert row["target"]["dtype"] == dtype and row["metrics"]["elements"] == len(patterns)


def test_bf16_rounding_of_the_tests_is_right():
    assert to_bf16([1.0, 1.00390625, 1.01171875]) == numpy.array([0x3F80, 0x3F80, 0x3F82], "<u2").tobytes()
