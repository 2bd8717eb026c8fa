#!/usr/bin/env python3
"""Test data of speed.py and the numpy baseline, in a process of their own: a child's peak memory counts its parent's.

    speed_data.py make REFERENCE TARGET DTYPE COUNT
    speed_data.py numpy REFERENCE TARGET          # prints the seconds that six metrics took
"""
import sys
import time

import numpy


def numpy_metrics(reference, target):
    """What a user's script does, in f32 as numpy does it fastest."""
    r, t = numpy.load(reference).ravel(), numpy.load(target).ravel()
    d = numpy.abs(t - r)
    relative = d / numpy.abs(r)
    cosine = float(numpy.dot(r, t)) / (float(numpy.linalg.norm(r)) * float(numpy.linalg.norm(t)))
    return cosine, d.max(), relative.max(), relative.mean(), (relative < 0.001).mean(), (relative < 0.005).mean()


def make_pair(paths, dtype, count):
    """Noise of a few rounding errors on normal numbers, in pieces so that memory stays small."""
    rng = numpy.random.default_rng(1)
    files = [numpy.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=(count,)) for path in paths]
    for first in range(0, count, 1 << 22):
        n = min(1 << 22, count - first)
        values = rng.standard_normal(n, dtype=numpy.float32)
        noise = rng.standard_normal(n, dtype=numpy.float32)
        if dtype == "V2":  # bf16 as numpy keeps it: the upper half of f32
            for file, v in zip(files, (values, values * (1 + 4e-3 * (noise > 1)))):
                file[first:first + n] = (v.astype(numpy.float32).view(numpy.uint32) >> 16).astype(numpy.uint16).view("V2")
        elif dtype == "i1":
            for file in files:
                file[first:first + n] = (values * 20).astype(numpy.int8)
        else:
            files[0][first:first + n] = values
            files[1][first:first + n] = values.astype(dtype) * (1 + numpy.finfo(dtype).eps * noise)


def main():
    numpy.seterr(all="ignore")
    if sys.argv[1] == "make":
        make_pair(sys.argv[2:4], sys.argv[4], int(sys.argv[5]))
        return
    begun = time.perf_counter()
    numpy_metrics(*sys.argv[2:4])
    print(time.perf_counter() - begun)


if __name__ == "__main__":
    main()
