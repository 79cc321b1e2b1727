"""Tensor descriptors made by the host: an array with the shape of the tiles in which a kernel moves it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from teeny.diag.errors import LaunchError
from teeny.ir.dtype import LEAVES
from teeny.ops.descriptor import LINE, MAX_RANK
from teeny.runtime.arrays import ArrayInfo, describe

LARGEST = (1 << 31) - 1


@dataclass(frozen=True, slots=True, eq=False)
class TensorDescriptor:
    """An array for a parameter `tl.TensorDescriptor[D]`, as Triton's `triton.tools.tensor_descriptor` has it.

    `base` is an array of any library; the descriptor is of `shape` elements that lie `strides` elements apart from its
    first one on. The last stride is 1, the others are multiples of 16 bytes, and so is the address. Tiles have
    `block_shape`, powers of two, with 16 bytes or more in a row; it belongs to the kernel's specialisation. `padding`
    ("zero", or "nan" for floats) is what is read outside of the array. Raises LaunchError (L002) for others.
    """

    base: Any
    shape: Sequence[int]
    strides: Sequence[int]
    block_shape: Sequence[int]
    padding: str = "zero"

    def __post_init__(self) -> None:
        described(self, "tn.TensorDescriptor")

    @staticmethod
    def from_tensor(tensor: Any, block_shape: Sequence[int], padding: str = "zero") -> TensorDescriptor:
        """The descriptor of a whole array. Raises LaunchError (L002) where GPUs do not take it."""
        info = describe(tensor)
        return TensorDescriptor(tensor, info.shape, info.strides, block_shape, padding)


def is_descriptor(value: object) -> bool:
    """Whether a value looks like a descriptor, teeny's or Triton's."""
    return all(hasattr(value, name) for name in ("base", "shape", "strides", "block_shape"))


@dataclass(frozen=True, slots=True)
class Described:
    """A checked descriptor: its array, and plain ints."""

    info: ArrayInfo
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    block_shape: tuple[int, ...]
    padding: str


def described(value: Any, kernel: str, argument: str = "") -> Described:
    """Check a descriptor, one passed as `argument` to a kernel, or one that is being made.

    Raises LaunchError L002, and NotAnArrayError where its base is no array.
    """
    info = describe(value.base)
    shape, strides, block = (tuple(map(int, one)) for one in (value.shape, value.strides, value.block_shape))
    padding = getattr(value, "padding", "zero")

    def wrong(part: str, found: str, needed: str) -> LaunchError:
        name = f"`{argument}` of `{kernel}`" if argument else "this"
        return LaunchError.of(
            "L002", f"{name} is no tensor descriptor that a GPU takes", kernel=kernel,
            argument=argument or part, found=found, needed=needed,
        )  # fmt: skip

    if not 1 <= len(shape) == len(strides) == len(block) <= MAX_RANK:
        sizes = f"shape {shape}, strides {strides}, block_shape {block}"
        raise wrong("block_shape", sizes, f"as many sizes as strides and sizes of a block, one to {MAX_RANK}")
    if any(not 0 <= n <= LARGEST for n in shape):
        raise wrong("shape", f"shape {shape}", f"sizes of 0 to {LARGEST}")
    if strides[-1] != 1:
        raise wrong(
            "strides", f"strides {strides}", "1 as the last stride; a transposed array has its axes in the other order"
        )
    leaf = LEAVES.get(info.dtype)
    size = leaf.bytes if leaf is not None else 1
    if any(n * size % LINE for n in strides[:-1]):
        raise wrong("strides", f"strides {strides} of {info.dtype}", f"strides that are multiples of {LINE} bytes")
    if info.pointer % LINE:
        raise wrong("base", f"an array at the address {info.pointer:#x}", f"an address that is a multiple of {LINE}")
    if any(n < 1 or n & (n - 1) for n in block):
        raise wrong("block_shape", f"block_shape {block}", "powers of two")
    if block[-1] * size < LINE:
        raise wrong(
            "block_shape",
            f"block_shape {block} of {info.dtype}",
            f"{LINE // size} elements or more in a row: {LINE} bytes",
        )
    if padding not in ("zero", "nan") or (padding == "nan" and (leaf is None or not leaf.kind.startswith("float"))):
        raise wrong("padding", f"padding {padding!r} of {info.dtype}", 'padding "zero", or "nan" of floats')
    return Described(info, shape, strides, block, str(padding))


def flattened(arguments: Mapping[str, Any], kernel: str) -> dict[str, Any]:
    """Arguments by name as a program has them: a descriptor is its array, sizes and strides. Raises LaunchError."""
    found: dict[str, Any] = {}
    for name, value in arguments.items():
        if not is_descriptor(value):
            found[name] = value
            continue
        one = described(value, kernel, name)
        found[name] = value.base
        found |= {f"{name}.shape[{at}]": n for at, n in enumerate(one.shape)}
        found |= {f"{name}.strides[{at}]": n for at, n in enumerate(one.strides[:-1])}
    return found
