#!/usr/bin/env python3
"""The speed promises, measured side by side in one run: medians and ratios.

    tests/bench/speed.py [--folder /tmp/msprobe-bench] [--runs 5] [--gib 1] [--program build/release/bin/msprobe] [--only NAME]

large   2 x N GiB of f32 in .npy, page cache warm, -j 2: against `cat` of both files to /dev/null, and against numpy
        (cosine, max abs, max rel, mean rel, within 1/1000 and 5/1000); and the peak resident memory
dtypes  the same for f16, bf16, f64 and i8, against cat
small   100,000 tensors of 16 elements, as .npy files and as an Ascend msprobe dump
start   msprobe --version
Needs python3-numpy, and 4 times N GiB of disk.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(__file__).with_name("speed_data.py")


def timed(command):
    """Wall seconds and peak resident MiB of one run."""
    begun = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begun
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        sys.exit(f"{command}: exit {os.waitstatus_to_exitcode(status)}")
    return seconds, usage.ru_maxrss / 1024


def compare(args, reference, target):
    return [args.program, "compare", "-j", "2", "-v", "0", "-r", reference, "-t", target]


def make_pair(folder, name, dtype, count):
    paths = [folder / f"{name}_{side}.npy" for side in ("reference", "target")]
    if not all(path.exists() for path in paths):
        subprocess.run([sys.executable, DATA, "make", *paths, dtype, str(count)], check=True)
    return paths


def row(name, seconds, against="", ratio=None, extra=""):
    print(f"{name:34} {seconds * 1000:10.1f} ms  {f'{ratio:6.2f} x {against}' if ratio else '':24} {extra}", flush=True)


def large(args, name="f32", dtype="f4", with_numpy=True):
    reference, target = make_pair(args.folder, name, dtype, int(args.gib * 2**30) // int(dtype[1]))
    cat, own, peak = [], [], 0
    for _ in range(args.runs + 1):  # the first run warms the page cache
        cat.append(timed(["cat", reference, target])[0])
        seconds, resident = timed(compare(args, reference, target))
        own.append(seconds)
        peak = max(peak, resident)
    base, mine = statistics.median(cat[1:]), statistics.median(own[1:])
    total = 2 * args.gib * 2**30 / 1e9
    row(f"cat, 2 x {args.gib:g} GiB {name}", base, extra=f"{total / base:.1f} GB/s")
    row(f"msprobe compare -j 2, {name}", mine, "cat", mine / base, f"{total / mine:.1f} GB/s, peak {peak:.0f} MiB")
    if with_numpy:
        run = subprocess.run([sys.executable, DATA, "numpy", reference, target], check=True, capture_output=True, text=True)
        seconds = float(run.stdout)
        row("numpy, the same six metrics", seconds, "msprobe", seconds / mine)


def small(args):
    folder = args.folder / "many"
    if not (folder / "pt/target").exists():
        subprocess.run([sys.executable, ROOT / "tests/bench/many_small.py", folder], check=True)
    for kind in ("npy", "pt"):
        runs = [timed(compare(args, folder / kind / "reference", folder / kind / "target")) for _ in range(args.runs + 1)][1:]
        row(f"100,000 small tensors, {kind}", statistics.median(r[0] for r in runs), extra=f"peak {max(r[1] for r in runs):.0f} MiB")


def start(args):
    runs = [timed([args.program, "--version"])[0] for _ in range(20)]
    row("msprobe --version", statistics.median(runs))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("/tmp/msprobe-bench"))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--gib", type=float, default=1)
    parser.add_argument("--program", default=str(ROOT / "build/release/bin/msprobe"))
    parser.add_argument("--only", choices=["large", "dtypes", "small", "start"])
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    wanted = [args.only] if args.only else ["start", "large", "dtypes", "small"]
    if "start" in wanted:
        start(args)
    if "large" in wanted:
        large(args)
    if "dtypes" in wanted:
        for name, dtype in (("f16", "f2"), ("bf16", "V2"), ("f64", "f8"), ("i8", "i1")):
            large(args, name, dtype, with_numpy=False)
    if "small" in wanted:
        small(args)


if __name__ == "__main__":
    main()
