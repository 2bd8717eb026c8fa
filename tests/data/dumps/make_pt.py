#!/usr/bin/env python3
"""Writes the .pt files in pt/ with the standard library alone, byte by byte as torch.save does: python3 make_pt.py

The zip side follows caffe2/serialize/inline_container.cc (data descriptors, sizes and checksums of 0 in the local
headers, an "FB" extra field that pads payloads to 64 bytes), the pickle side torch/serialization.py and torch/_utils.py.
"""
import collections
import io
import os
import pickle
import struct
import sys
import types
import zlib

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pt")


def module(name):
    made = types.ModuleType(name)
    sys.modules[name] = made
    return made


torch, utils, storage_module, parameter = (module(n) for n in ("torch", "torch._utils", "torch.storage", "torch.nn.parameter"))
module("torch.nn")


def named(where, name):
    """Something that pickles as a reference to `where.name`."""
    def made(*_):
        raise NotImplementedError
    made.__name__ = made.__qualname__ = name
    made.__module__ = where.__name__
    setattr(where, name, made)
    return made


REBUILD_V2, REBUILD_V3, REBUILD_PARAMETER = (
    named(utils, n) for n in ("_rebuild_tensor_v2", "_rebuild_tensor_v3", "_rebuild_parameter"))
STORAGES = {n: named(torch, n + "Storage") for n in (
    "Float Double Half BFloat16 Byte Char Short Int Long Bool ComplexFloat ComplexDouble QInt8").split()}
UNTYPED = named(storage_module, "UntypedStorage")


class Dtype:
    """torch.dtype objects pickle as globals: 'torch float8_e4m3fn'."""
    def __init__(self, name):
        self.name = name
        setattr(torch, name, self)

    def __reduce__(self):
        return self.name


def dtype(name):
    made = Dtype(name)
    made.__class__ = type(name, (Dtype,), {"__module__": "torch", "__reduce__": lambda self: self.name})
    return made


class Storage:
    def __init__(self, kind, data, numel):
        self.kind, self.data, self.numel = kind, data, numel


class Tensor:
    def __init__(self, storage, shape, strides=None, offset=0, v3=None):
        self.storage, self.shape, self.offset, self.v3 = storage, tuple(shape), offset, v3
        if strides is None:
            strides, step = [], 1
            for size in reversed(shape):
                strides.insert(0, step)
                step *= max(size, 1)
        self.strides = tuple(strides)

    def __reduce__(self):
        arguments = (self.storage, self.offset, self.shape, self.strides, False, collections.OrderedDict())
        return (REBUILD_V3, arguments + (self.v3,)) if self.v3 else (REBUILD_V2, arguments)


class Parameter:
    def __init__(self, data):
        self.data = data

    def __reduce__(self):
        return REBUILD_PARAMETER, (self.data, True, collections.OrderedDict())


def floats(count, first=0.0):
    return Storage(STORAGES["Float"], struct.pack("<%df" % count, *[first + 0.5 * i for i in range(count)]), count)


class Pickler(pickle._Pickler):
    def __init__(self, out, protocol, storages):
        super().__init__(out, protocol)
        self.storages = storages

    def persistent_id(self, thing):
        if not isinstance(thing, Storage):
            return None
        if thing not in self.storages:
            self.storages.append(thing)
        return ("storage", thing.kind, str(self.storages.index(thing)), "cpu", thing.numel)

    def save_global(self, thing, name=None):
        # Without the check that the name can be imported: these modules are made up.
        if isinstance(thing, Dtype):
            module_name, name = "torch", thing.name
        else:
            module_name, name = thing.__module__, name or thing.__qualname__
        if self.proto >= 4:
            self.save(module_name)
            self.save(name)
            self.write(pickle.STACK_GLOBAL)
        else:
            self.write(pickle.GLOBAL + module_name.encode() + b"\n" + name.encode() + b"\n")
        self.memoize(thing)

    dispatch = dict(pickle._Pickler.dispatch)
    dispatch[types.FunctionType] = save_global
    dispatch[type] = save_global


def pickled(value, protocol=2):
    out, storages = io.BytesIO(), []
    Pickler(out, protocol, storages).dump(value)
    return out.getvalue(), storages


def archive(path, members, zip64=False, deflate=False):
    body, central = b"", b""
    for name, data in members:
        name = name.encode()
        at = len(body)
        pad = -(at + 30 + len(name) + 4) % 64
        extra = b"FB" + struct.pack("<H", pad) + b"Z" * pad
        packed = data
        if deflate:
            packer = zlib.compressobj(9, zlib.DEFLATED, -15)
            packed = packer.compress(data) + packer.flush()
        method, crc = (8 if deflate else 0), zlib.crc32(data)
        body += struct.pack("<IHHHHHIIIHH", 0x04034B50, 0, 0x808, method, 0, 0, 0, 0, 0, len(name), len(extra)) + name + extra
        body += packed + struct.pack("<IIII", 0x08074B50, crc, len(packed), len(data))
        sizes, more = (len(packed), len(data), at), b""
        if zip64:
            more = struct.pack("<HHQQQ", 1, 24, len(data), len(packed), at)
            sizes = (0xFFFFFFFF,) * 3
        central += struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 0, 0, 0x808, method, 0, 0, crc, sizes[0], sizes[1], len(name),
                               len(more), 0, 0, 0, 0, sizes[2]) + name + more
    at = len(body)
    end = struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, len(members), len(members), len(central), at, 0)
    if zip64:
        end = struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, len(members), len(members), len(central), at)
        end += struct.pack("<IIQI", 0x07064B50, 0, at + len(central), 1)
        end += struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    with open(path, "wb") as file:
        file.write(body + central + end)


def save(name, value, protocol=2, byteorder=None, raw=None, **options):
    data, storages = pickled(value, protocol) if raw is None else (raw, [])
    members = [(name + "/data.pkl", data)]
    if byteorder:
        members.append((name + "/byteorder", byteorder.encode()))
    members += [("%s/data/%d" % (name, i), s.data) for i, s in enumerate(storages)]
    members.append((name + "/version", b"3\n"))
    archive(os.path.join(OUT, name + ".pt"), members, **options)


def of(kind, fmt, values):
    return Tensor(Storage(STORAGES[kind], struct.pack("<%d%s" % (len(values), fmt), *values), len(values)), [len(values)])


def main():
    os.makedirs(OUT, exist_ok=True)
    save("plain", Tensor(floats(6), [2, 3]))
    save("protocol4", Tensor(floats(6), [2, 3]), protocol=4)
    save("protocol5", Tensor(floats(6), [2, 3]), protocol=5)
    save("zip64", Tensor(floats(6), [2, 3]), zip64=True)
    save("deflated", Tensor(floats(6), [2, 3]), deflate=True)
    save("scalar", Tensor(floats(1, 7.0), []))
    save("empty", Tensor(Storage(STORAGES["Float"], b"", 0), [0, 3]))
    save("transposed", Tensor(floats(12), [4, 3], [1, 4]))
    save("offset", Tensor(floats(12), [2, 3], [3, 1], 4))
    save("expanded", Tensor(floats(3), [4, 3], [0, 1]))
    shared = floats(12)
    save("shared", {"whole": Tensor(shared, [3, 4]), "column": Tensor(shared, [3], [4], 1)})
    big = Storage(STORAGES["Float"], struct.pack(">6f", *[0.5 * i for i in range(6)]), 6)
    save("big_endian", Tensor(big, [2, 3]), byteorder="big")
    save("little_endian", Tensor(floats(6), [2, 3]), byteorder="little")
    save("dtypes", collections.OrderedDict([
        ("f64", of("Double", "d", [1.5, -2.0])), ("f32", of("Float", "f", [1.5, -2.0])), ("f16", of("Half", "e", [1.5, -2.0])),
        ("bf16", of("BFloat16", "H", [0x3FC0, 0xC000])), ("u8", of("Byte", "B", [1, 255])), ("i8", of("Char", "b", [1, -2])),
        ("i16", of("Short", "h", [1, -2])), ("i32", of("Int", "i", [1, -2])), ("i64", of("Long", "q", [1, -2])),
        ("bool", of("Bool", "B", [1, 0])),
        ("c64", Tensor(Storage(STORAGES["ComplexFloat"], struct.pack("<4f", 1.5, 0, -2, 1), 2), [2])),
        ("c128", Tensor(Storage(STORAGES["ComplexDouble"], struct.pack("<4d", 1.5, 0, -2, 1), 2), [2])),
        ("f8e4m3fn", Tensor(Storage(UNTYPED, b"\x3c\xc0", 2), [2], v3=dtype("float8_e4m3fn"))),
        ("f8e5m2", Tensor(Storage(UNTYPED, b"\x3e\xc0", 2), [2], v3=dtype("float8_e5m2"))),
        ("u16", Tensor(Storage(UNTYPED, struct.pack("<2H", 1, 65535), 4), [2], v3=dtype("uint16"))),
        ("u32", Tensor(Storage(UNTYPED, struct.pack("<2I", 1, 2**32 - 1), 8), [2], v3=dtype("uint32"))),
        ("u64", Tensor(Storage(UNTYPED, struct.pack("<2Q", 1, 2**64 - 1), 16), [2], v3=dtype("uint64"))),
        ("quantized", of("QInt8", "b", [1, -2])),
        ("e8m0", Tensor(Storage(UNTYPED, b"\x7f\x80", 2), [2], v3=dtype("float8_e8m0fnu"))),
    ]))
    state = collections.OrderedDict([("fc.weight", Parameter(Tensor(floats(6), [2, 3]))), ("fc.bias", Tensor(floats(2), [2]))])
    state._metadata = collections.OrderedDict([("", {"version": 1})])
    save("checkpoint", {"model": state, "epoch": 3, "name": "run", "rate": 0.1, "history": [Tensor(floats(1), [1]), (Tensor(floats(2), [2]),)],
                        "seed": 2**70, 7: Tensor(floats(1), [1]), "none": None})
    save("short_storage", Tensor(Storage(STORAGES["Float"], b"\0" * 8, 6), [2, 3]))
    save("no_tensor", {"epoch": 3})

    save("posix_system", None, raw=b"\x80\x02cposix\nsystem\nX\x05\x00\x00\x00touch\x85R.")
    save("builtins_eval", None, raw=b"\x80\x04\x8c\x08builtins\x8c\x04eval\x93\x8c\x0bprint(hello)\x85R.")
    save("cyclic", None, raw=b"\x80\x02]q\x00h\x00a.")
    save("deep", None, raw=b"\x80\x02" + b"]" * 20000 + b"a" * 19999 + b".")
    # Thirty lists that hold the one before twice: 2^30 ways to a leaf.
    dag = b"\x80\x02]q\x00"
    for i in range(1, 31):
        dag += b"]q" + bytes([i]) + b"(h" + bytes([i - 1]) + b"h" + bytes([i - 1]) + b"e"
    save("doubling", None, raw=dag + b".")
    # The old form: five pickles one after the other, the first is torch's magic number.
    with open(os.path.join(OUT, "legacy.pt"), "wb") as file:
        file.write(b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.")


if __name__ == "__main__":
    main()
