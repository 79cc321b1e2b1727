"""A kernel with tensor descriptors as text, whose code wants scratch memory on the device: y = 2 x, tile by tile."""

from __future__ import annotations

from importlib import metadata

ROWS, COLS = 32, 64
"""A tile, one a program, of grid (x, y)."""


def _type() -> str:
    """Triton wrote descriptors' types otherwise up to 3.7."""
    try:
        old = tuple(map(int, metadata.version("triton").split(".")[:2])) < (3, 8)
    except metadata.PackageNotFoundError:
        old = False
    return f"!tt.tensordesc<tensor<{ROWS}x{COLS}xf16>>" if old else f"!tt.tensordesc<{ROWS}x{COLS}xf16>"


DOUBLE = """\
tt.func public @double(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility = 16 : i32},
    %m: i32, %n: i32 {tt.divisibility = 16 : i32}) {
  %rows = arith.constant 32 : i32
  %cols = arith.constant 64 : i32
  %one = arith.constant 1 : i64
  %px = tt.get_program_id x : i32
  %py = tt.get_program_id y : i32
  %r = arith.muli %px, %rows : i32
  %c = arith.muli %py, %cols : i32
  %s = arith.extsi %n : i32 to i64
  %dx = tt.make_tensor_descriptor %x, [%m, %n], [%s, %one] : !tt.ptr<f16>, TYPE
  %dy = tt.make_tensor_descriptor %y, [%m, %n], [%s, %one] : !tt.ptr<f16>, TYPE
  %t = tt.descriptor_load %dx[%r, %c] : TYPE -> tensor<32x64xf16>
  %u = arith.addf %t, %t : tensor<32x64xf16>
  tt.descriptor_store %dy[%r, %c], %u : TYPE, tensor<32x64xf16>
  tt.return
}
""".replace("TYPE", _type())
