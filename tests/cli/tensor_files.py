"""Writers of tensor files for tests: .npy in all its forms, raw .bin, and .pt as torch.save writes it (without torch)."""
import io
import json
import struct
import zipfile

import numpy

# dtype name of msprobe -> (bytes of an element, numpy's descr, torch's storage class)
DTYPES = {
    "f64": (8, "<f8", "DoubleStorage"),
    "f32": (4, "<f4", "FloatStorage"),
    "f16": (2, "<f2", "HalfStorage"),
    "bf16": (2, "<V2", "BFloat16Storage"),
    "f8e4m3fn": (1, None, "Float8_e4m3fnStorage"),
    "f8e5m2": (1, None, "Float8_e5m2Storage"),
    "i8": (1, "|i1", "CharStorage"),
    "u8": (1, "|u1", "ByteStorage"),
    "i16": (2, "<i2", "ShortStorage"),
    "u16": (2, "<u2", None),
    "i32": (4, "<i4", "IntStorage"),
    "u32": (4, "<u4", None),
    "i64": (8, "<i8", "LongStorage"),
    "u64": (8, "<u8", None),
    "bool": (1, "|b1", "BoolStorage"),
    "c64": (8, "<c8", "ComplexFloatStorage"),
    "c128": (16, "<c16", "ComplexDoubleStorage"),
}


def to_bf16(values):
    """Bytes of bf16, rounded to nearest even; no NaN."""
    bits = numpy.asarray(values, "<f4").view("<u4").astype("u8")
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("<u2").tobytes()


def npy_bytes(data, descr, shape, fortran=False, version=1, header_bytes=None, text=None):
    """An .npy file from raw bytes. `text` replaces the header's dict."""
    text = text or "{'descr': %r, 'fortran_order': %r, 'shape': %r, }" % (descr, fortran, tuple(shape))
    start = 10 if version == 1 else 12
    total = header_bytes or (start + len(text) + 1 + 63) // 64 * 64
    header = text.encode("utf-8" if version == 3 else "latin-1").ljust(total - start - 1) + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(header)) + header + data


def write_npy(path, data, dtype=None, shape=None, **options):
    """An array, or raw bytes with dtype and shape."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if dtype is None:
        data = numpy.asarray(data)
        with open(path, "wb") as file:
            numpy.lib.format.write_array(file, data, allow_pickle=True)
    else:
        path.write_bytes(npy_bytes(data, DTYPES[dtype][1], shape, **options))
    return path


def write_bin(path, data, dtype=None, shape=None):
    """Raw elements; a side file when dtype or shape is given."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else numpy.ascontiguousarray(data).tobytes())
    side = {key: value for key, value in (("dtype", dtype), ("shape", shape)) if value is not None}
    if side:
        path.with_name(path.name + ".json").write_text(json.dumps(side))
    return path


# ---- .pt: a zip of <stem>/data.pkl (protocol 2) and the storages <stem>/data/<key> ----

def _text(value):
    return b"X" + struct.pack("<I", len(value.encode())) + value.encode()


def _integer(value):
    return b"J" + struct.pack("<i", value) if abs(value) < 2**31 else b"\x8a\x08" + struct.pack("<q", value)


def _tuple(values):
    return b"(" + b"".join(map(_integer, values)) + b"t"


def dense_strides(shape):
    strides, step = [], 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= size
    return strides


def pt_tensor(storage_class, key, numel, shape, strides=None, offset=0):
    """The pickle of one tensor over storage `key`."""
    return (b"ctorch._utils\n_rebuild_tensor_v2\n(" + b"(" + _text("storage") + b"ctorch\n" + storage_class.encode() + b"\n" + _text(key)
            + _text("cpu") + _integer(numel) + b"tQ" + _integer(offset) + _tuple(shape)
            + _tuple(dense_strides(shape) if strides is None else strides) + b"\x89" + b"ccollections\nOrderedDict\n)R" + b"tR")


def pt_dict(items):
    return b"}(" + b"".join(_text(name) + value for name, value in items) + b"u"


def pt_list(items):
    return b"](" + b"".join(items) + b"e"


def pt_bytes(pickle, storages, stem="archive"):
    """The zip: `pickle` without its frame, storages key -> bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(f"{stem}/data.pkl", b"\x80\x02" + pickle + b".")
        for key, data in storages.items():
            archive.writestr(f"{stem}/data/{key}", data)
        archive.writestr(f"{stem}/version", "3\n")
    return out.getvalue()


def write_pt(path, data, dtype=None, shape=None):
    """One dense tensor: an array, or raw bytes with dtype and shape."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if dtype is None:
        array = numpy.ascontiguousarray(data)
        shape = numpy.shape(data)
        dtype = next(name for name, (_, descr, _) in DTYPES.items() if descr == array.dtype.str)
        data = array.tobytes()
    size, _, storage = DTYPES[dtype]
    path.write_bytes(pt_bytes(pt_tensor(storage, "0", len(data) // size, shape), {"0": data}, path.stem))
    return path
