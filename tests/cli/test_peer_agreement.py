"""Our numbers against those that Ascend msprobe printed for the same dumps: equal, but for differences with a name.

`msprobe` of that tool prints 12 decimals and some text in place of numbers. DIFFERENCES lists every way in which a cell may differ on
purpose (last section of docs/metrics.md) with the number of cells where it does: another one fails, and so does one that never shows.
"""
import collections
import math

import pytest

from peer import read_table

# pair -> rows that the peer printed for step 0 and step 1
ROWS = {
    "cnn_bf16_tensor_L0": (131, 131),
    "cnn_nan_tensor_L0": (86, 86),
    "enc_bf16_statistics_mix": (261, 380),
    "enc_eps_tensor_mix": (261, 380),
    "enc_perturb_statistics-md5_mix": (261, 380),
    "enc_same_tensor_L0": (60, 60),
    "mlp_perturb_tensor_L1": (111, 181),
}
TENSOR = {"Cosine": "cosine", "EucDist": "l2", "MaxAbsErr": "max_abs", "MaxRelativeErr": "max_rel",
          "One Thousandth Err Ratio": "within_1e3", "Five Thousandths Err Ratio": "within_5e3"}
STATISTICS = {"Max diff": "max_diff", "Min diff": "min_diff", "Mean diff": "mean_diff", "L2norm diff": "norm_diff",
              "MaxRelativeErr": "max_rel_diff", "MinRelativeErr": "min_rel_diff", "MeanRelativeErr": "mean_rel_diff",
              "NormRelativeErr": "norm_rel_diff"}
CHECKSUM = {"NPU MD5": "target", "BENCH MD5": "reference"}


def number(text):
    """A cell of the peer; shares are printed as percentages."""
    try:
        return float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        return None


def close(peer, ours):
    return ours is not None and (peer == float(ours) or abs(peer - float(ours)) <= 1e-6 * abs(peer) + 1e-12)


def agree(title, cell, ours, row):
    """"equal", the name of a difference on purpose, or None."""
    peer, metrics = number(cell), row["metrics"]
    if row["kind"] == "scalar":
        # A scalar is judged by its value: it has no metrics here, "unsupported" or 0 there.
        return "scalar argument" if ours is None else None
    if peer is not None and close(peer, ours):
        return "equal"
    if row["kind"] == "tensor":
        if cell == "unsupported" and row["reference"]["shape"] in ([], [1]):
            return "0-d or length 1 is unsupported there"
        if cell == "N/A" and metrics["class_mismatch"] > 0:
            return "N/A where NaN or inf are in other places"
        if title == "MaxRelativeErr" and metrics["zeros_ref"] > 0 and peer is not None:
            if metrics["zero_ref_mismatch"] > 0 and peer > (ours or 0):
                return "divided by eps where the reference is 0"
            if metrics["zeros_ref"] == metrics["elements"] and ours is None and peer == 0:
                return "0 where the whole reference is 0"
    if row["kind"] == "statistics":
        integer = row["reference"]["dtype"] not in ("f32", "bf16")
        if integer and ours is None and title.split(" ")[0].removesuffix("RelativeErr") in ("Mean", "L2norm", "Norm"):
            return "integers have no mean and norm"
    return None


def cells_of(line, row):
    """(title, cell, our value) of a row of the peer."""
    if "NPU MD5" in line:
        for title, side in CHECKSUM.items():
            checksum = row[side]["checksum"]
            yield title, line[title], checksum and checksum.removeprefix("crc32:")
    else:
        table = TENSOR if "EucDist" in line else STATISTICS
        for title, metric in table.items():
            yield title, line[title], row["metrics"][metric]


@pytest.fixture(scope="module")
def compared(samples, shared_msprobe):
    """(pair, step) -> [(line of the peer, our row)]; every line has exactly one row."""
    found = {}
    for pair in ROWS:
        folder = samples / "samples" / pair
        run = shared_msprobe.compare(folder / "ref", folder / "target")
        assert run.code in (0, 1), run.err
        for step, file in enumerate(("step0.csv", "step1.xlsx")):
            rows = collections.defaultdict(list)
            for row in run.rows:
                if row["step"] == step:
                    rows[row["name"]].append(row)
            lines = read_table(folder / f"ascend_msprobe_compare_{file}")
            assert all(len(rows[line["NPU Name"]]) == 1 for line in lines), "a row of the peer is missing or there twice"
            assert sum(map(len, rows.values())) == len(lines), "we have rows that the peer has not"
            found[pair, step] = [(line, rows[line["NPU Name"]][0]) for line in lines]
    return found


PAIRS_AND_STEPS = [(pair, step) for pair in ROWS for step in (0, 1)]


@pytest.mark.parametrize("pair,step", PAIRS_AND_STEPS)
def test_every_row_of_the_peer_is_in_our_report(compared, pair, step):
    lines = compared[pair, step]
    assert len(lines) == ROWS[pair][step]
    assert all(row["target"]["name"] == line["NPU Name"] and row["reference"]["name"] == line["Bench Name"] for line, row in lines)


@pytest.mark.parametrize("pair,step", PAIRS_AND_STEPS)
def test_rows_are_in_the_order_of_the_peer(compared, pair, step):
    """We keep the order of the reference, the peer that of its "NPU" side: with autocast the two list some gradients of one call in
    another order, and there the calls are in the same order."""
    rows = [row for _, row in compared[pair, step]]
    if "bf16" in pair:
        order = [row["execution_index"] for row in rows]
        moved = [row for row, index in zip(rows, sorted(row["index"] for row in rows)) if row["index"] != index]
        assert len(moved) <= 10 and all(row["direction"] == "gradient" for row in moved)
    else:
        order = [row["index"] for row in rows]
    assert order == sorted(order)


@pytest.mark.parametrize("pair,step", PAIRS_AND_STEPS)
def test_numbers_of_the_peer_are_ours_but_for_named_differences(compared, pair, step):
    wrong, equal = [], 0
    for line, row in compared[pair, step]:
        for title, cell, ours in cells_of(line, row):
            if title in CHECKSUM:
                name = "equal" if cell == ours or (row["kind"] == "scalar" and ours is None) else None
            else:
                name = agree(title, cell, ours, row)
            equal += name == "equal"
            if name is None:
                wrong.append(f"{line['NPU Name']}: {title} is {cell} there, {ours} here")
    assert not wrong, wrong[:10]
    least = 6 if (pair, step) == ("cnn_nan_tensor_L0", 1) else ROWS[pair][step]  # there all but one row are full of NaN
    assert equal >= least, "hardly anything was compared"


# ---- each difference on purpose: how often it shows in the samples ----

DIFFERENCES = {
    "0-d or length 1 is unsupported there": 32,
    "N/A where NaN or inf are in other places": 690,
    "divided by eps where the reference is 0": 4,
    "0 where the whole reference is 0": 26,
    "integers have no mean and norm": 40,
}


def test_differences_on_purpose_are_those_of_the_list_and_each_shows(compared):
    counts = collections.Counter()
    for lines in compared.values():
        for line, row in lines:
            for title, cell, ours in cells_of(line, row):
                if title not in CHECKSUM:
                    counts[agree(title, cell, ours, row)] += 1
    assert counts.pop("equal") > 9000
    counts.pop("scalar argument")
    assert counts == DIFFERENCES


def test_cosine_above_0_9999_is_not_rounded_here(compared):
    """The peer rounds it to 6 digits, so 0.9999996 reads as 1 there."""
    rows = [(line, row) for lines in compared.values() for line, row in lines
            if "Cosine" in line and row["kind"] == "tensor" and number(line["Cosine"]) is not None]
    high = [(number(line["Cosine"]), float(row["metrics"]["cosine"])) for line, row in rows if number(line["Cosine"]) > 0.9999]
    assert all(round(ours, 6) == peer for peer, ours in high)
    kept = [ours for peer, ours in high if peer == 1 and ours != 1]
    assert len(kept) > 100, "a cosine that is not 1 must not read as 1"


def test_0_d_tensors_are_compared_here(compared):
    rows = [row for line, row in compared["enc_eps_tensor_mix", 0] if line["EucDist"] == "unsupported" and row["kind"] == "tensor"]
    assert len(rows) == 2 and all(row["reference"]["shape"] == [] and row["metrics"]["cosine"] == 1 for row in rows)
    loss, gradient = rows
    assert loss["verdict"] == "fail" and loss["error"] > loss["threshold"] and loss["metrics"]["max_abs"] > 1e-3
    assert gradient["verdict"] == "pass" and gradient["error"] == 0


def test_nan_in_other_places_is_n_a_there_and_fails_here(compared):
    rows = [row for step in (0, 1) for line, row in compared["cnn_nan_tensor_L0", step] if line["EucDist"] == "N/A"]
    assert len(rows) == 115
    assert all(row["verdict"] == "fail" and row["error"] == "Infinity" and row["metrics"]["class_mismatch"] > 0 for row in rows)


def test_max_rel_leaves_out_zeros_of_the_reference_and_counts_them(compared):
    """The peer divides by eps there and prints up to 532480."""
    rows = [(line, row) for line, row in compared["cnn_bf16_tensor_L0", 1] if row["metrics"]["zero_ref_mismatch"]]
    assert rows
    for line, row in rows:
        assert row["metrics"]["zero_ref_max_abs"] > 0
        assert number(line["MaxRelativeErr"]) >= row["metrics"]["max_rel"]
    assert max(number(line["MaxRelativeErr"]) for line, _ in rows) > 1e5 > max(row["metrics"]["max_rel"] for _, row in rows)


def test_bf16_against_fp32_is_an_error_there_and_judged_here(compared):
    for pair in ("cnn_bf16_tensor_L0", "enc_bf16_statistics_mix"):
        rows = [(line, row) for line, row in compared[pair, 0] if line["NPU Dtype"] == "torch.bfloat16" != line["Bench Dtype"]]
        errors = sum(line["Result"] == "error" for line, _ in rows)
        assert len(rows) > 30 and errors > 0.8 * len(rows)
        assert {row["target"]["dtype"] for _, row in rows} == {"bf16"} and {row["reference"]["dtype"] for _, row in rows} == {"f32"}
        assert sum(row["verdict"] == "pass" for _, row in rows) > 0.8 * len(rows)


def test_checksums_are_those_of_the_peer_and_a_difference_alone_only_warns(compared):
    lines = [(line, row) for step in (0, 1) for line, row in compared["enc_perturb_statistics-md5_mix", step]]
    tensors = [(line, row) for line, row in lines if row["kind"] != "scalar"]
    assert len(tensors) == 527
    differ = [row for line, row in tensors if line["NPU MD5"] != line["BENCH MD5"]]
    assert len(differ) > 300
    assert all(row["verdict"] == "pass" and row["error"] == 0 for line, row in tensors if line["NPU MD5"] == line["BENCH MD5"])
    alone = [row for row in differ if row["error"] == 0]
    assert len(alone) == 3 and all(row["verdict"] == "warn" and "checksum_only" in row["why"] for row in alone)


def test_agreement_sees_a_wrong_number():
    assert close(0.5, 0.5 + 1e-8) and not close(0.5, 0.500002) and not close(0.5, None) and not close(1.0, math.nan)
