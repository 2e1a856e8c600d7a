"""Writes tests/formats/data/ by NumPy, which tests of the formats read.

    python3 scripts/interop/numpy_fixtures.py
"""
import io
import pathlib
import zipfile

import numpy as np
from numpy.lib import format as npy

FOLDER = pathlib.Path(__file__).parents[2] / "tests/formats/data"
VALUES = np.arange(1, 7).reshape(2, 3)
TYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64"]


def version(array, number):
    out = io.BytesIO()
    npy.write_array(out, array, version=number)
    return out.getvalue()


def by_name():
    arrays = {name: VALUES.astype(name) for name in TYPES}
    arrays["bool"] = VALUES % 2 == 0
    arrays["fortran"] = np.asfortranarray(VALUES.astype("float32"))
    arrays["fortran_3d"] = np.asfortranarray(np.arange(24, dtype="int16").reshape(2, 3, 4))
    for name in ["int16", "float32", "int64", "float64"]:
        arrays[f"big_{name}"] = VALUES.astype(np.dtype(name).newbyteorder(">"))
    arrays["scalar"] = np.array(2.5, dtype="float32")
    arrays["empty"] = np.zeros((3, 0), dtype="float32")
    arrays["one"] = np.array([7], dtype="int32")
    # 1, -2, 0.5 and 3 as bfloat16, whose type NumPy does not know: extension packages store it without a name.
    arrays["bits"] = np.array([0x3F80, 0xC000, 0x3F00, 0x4040], dtype="uint16").view("V2")
    return arrays


np.savez(FOLDER / "stored.npz", **by_name())
np.savez_compressed(FOLDER / "deflated.npz", **by_name(), large=np.arange(30_000, dtype="int32") // 7)
with zipfile.ZipFile(FOLDER / "mixed.npz", "w", zipfile.ZIP_BZIP2) as file:
    file.writestr("bzip2.npy", version(VALUES, (1, 0)))
    file.writestr("notes.txt", "no array")
(FOLDER / "float32.npy").write_bytes(version(VALUES.astype("float32"), (1, 0)))
(FOLDER / "version2.npy").write_bytes(version(VALUES.astype("float32"), (2, 0)))
(FOLDER / "version3.npy").write_bytes(version(VALUES.astype("float32"), (3, 0)))
(FOLDER / "complex.npy").write_bytes(version(VALUES.astype("complex64"), (1, 0)))
(FOLDER / "fields.npy").write_bytes(version(np.zeros(2, dtype=[("x", "<f4"), ("y", "<i2")]), (1, 0)))
(FOLDER / "text.npy").write_bytes(version(np.array(["a", "bc"]), (1, 0)))
