"""Every vector of metric_cases.jsonl, written as files and judged by the program: all keys, error, threshold and verdict.

The rule of agreement is that of the reference implementation: integers, texts, null and infinities are equal; a number may differ by
tolerance.rel of its value, or by tolerance.abs[key] where that is larger.
"""
import base64
import collections
import json
import math

import pytest

from conftest import TESTS
from tensor_files import DTYPES, write_bin, write_npy, write_pt

VECTORS = [json.loads(line) for line in (TESTS / "data/metric_cases.jsonl").read_text().splitlines()]
FLAGS = {"error_threshold": "--error-threshold", "noise_dtype": "--noise-dtype", "nan": "--nan", "atol": "--atol", "rtol": "--rtol"}


def arguments_of(options):
    arguments = []
    for key, value in sorted(options.items()):
        if key in FLAGS:
            arguments += [FLAGS[key], str(value) if isinstance(value, str) else repr(value)]
        elif key == "saturate":
            arguments.append("--saturate" if value == "target" else f"--saturate={value}")
        elif key == "ftz":
            arguments += ["--ftz"] if value else []
        else:
            raise KeyError(key)
    return arguments


def write_side(path, side, turn):
    """Spread over the formats: .npy, .pt and .bin as far as each knows the dtype."""
    data = base64.b64decode(side["base64"])
    dtype, shape = side["dtype"], side["shape"]
    _, descr, storage = DTYPES[dtype]
    able = [write for write, knows in ((write_npy, descr), (write_pt, storage), (write_bin, True)) if knows]
    write = able[turn % len(able)]
    suffix = {write_npy: ".npy", write_pt: ".pt", write_bin: ".bin"}[write]
    write(path.with_name(path.name + suffix), data, dtype, shape)


def agrees(key, expect, got, tolerance):
    if expect is None or got is None or isinstance(expect, bool) or key.endswith("_at") or key == "verdict":
        return expect == got
    a, b = float(expect), float(got)
    return a == b or (math.isfinite(a) and abs(a - b) <= max(tolerance["rel"] * abs(a), tolerance.get("abs", {}).get(key, 0.0)))


@pytest.fixture(scope="module")
def judged(tmp_path_factory, shared_msprobe):
    """id -> row: one run per set of options."""
    groups = collections.defaultdict(list)
    for number, vector in enumerate(VECTORS):
        groups[tuple(arguments_of(vector["options"]))].append((number, vector))
    rows = {}
    for arguments, members in groups.items():
        folder = tmp_path_factory.mktemp("vectors")
        for number, vector in members:
            write_side(folder / "ref" / vector["id"], vector["ref"], number)
            write_side(folder / "target" / vector["id"], vector["target"], number // 3)
        run = shared_msprobe.compare(folder / "ref", folder / "target", *arguments)
        assert run.code in (0, 1), run.err
        assert run.summary["compared"] == len(members)
        rows.update({row["name"]: row for row in run.rows})
    assert len(rows) == len(VECTORS)
    return rows


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_vector_has_the_metrics_error_threshold_and_verdict_of_the_rules(judged, vector):
    row = judged[vector["id"]]
    got = {**row["metrics"], **{key: row[key] for key in ("error", "threshold", "verdict")}}
    wrong = [f"{key} is {got.get(key, 'missing')!r}, expected {want!r}" for key, want in vector["expect"].items()
             if key != "why" and not (key in got and agrees(key, want, got[key], vector["tolerance"]))]
    assert not wrong, f"{vector['rule']}: {wrong}"


def test_vectors_cover_every_dtype_and_every_option():
    dtypes = {vector[side]["dtype"] for vector in VECTORS for side in ("ref", "target")}
    assert dtypes == set(DTYPES)
    assert {key for vector in VECTORS for key in vector["options"]} == {*FLAGS, "saturate", "ftz"}


def test_agreement_rule_sees_a_wrong_number():
    tolerance = {"rel": 1e-12, "abs": {"cosine": 1e-9}}
    assert agrees("l2", 1.0, 1.0 + 1e-13, tolerance) and not agrees("l2", 1.0, 1.0 + 1e-11, tolerance)
    assert agrees("cosine", 1.0, 1.0 - 1e-10, tolerance) and not agrees("cosine", 1.0, None, tolerance)
    assert not agrees("l2", 1.0, "Infinity", tolerance) and not agrees("l2", "Infinity", 1e308, tolerance)
