"""`teeny compile` for every kind of code and target, and the options of the compiler."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from teeny.cli.main import main

SOFTMAX = str(Path(__file__).resolve().parent.parent.parent / "examples" / "softmax.py")
CHOICES = ["-s", "D=f32", "-s", "BLOCK_SIZE=16"]
needs_triton = pytest.mark.skipif(find_spec("triton") is None, reason="triton is not installed")

TEXT: dict[str, tuple[list[str], str]] = {
    "ttir": ([], "tt.load"),
    "ttgir": ([], '"ttg.num-warps" = 4'),
    "llir": ([], "define"),
    "asm": ([], ".target sm_90a"),
    "ptx": ([], ".target sm_90a"),
    "asm of AMD": (["--target", "gfx950"], "-gfx950"),
    "llir of AMD": (["--target", "gfx942"], "amdgpu_kernel"),
    "ptx for others": (["--portable"], ".target sm_90\n"),
    "ptx of an old version": (["--ptx-version", "81"], ".version 8.1\n"),
    "ptx of few registers": (["--maxnreg", "32"], ".maxnreg 32"),
    "ptx of many warps": (["--num-warps", "8"], ".reqntid 256"),
    "ttgir of stages": (["--num-stages", "2"], "tt.func"),
    "ptx unfused": (["--no-fp-fusion", "--force"], ".entry softmax"),
    "ptx of hints": (["--hint", "x_ptr", "--hint", "n_cols"], ".entry softmax"),
}


def written(capsys: pytest.CaptureFixture[bytes], *words: str) -> bytes:
    assert main(["compile", SOFTMAX, *CHOICES, *words]) == 0
    return capsys.readouterr().out


@needs_triton
@pytest.mark.parametrize("name", TEXT)
def test_text(name: str, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    words, sign = TEXT[name]
    assert sign in written(capsysbinary, "--emit", name.split()[0], *words).decode()


@pytest.mark.parametrize(("emit", "sign"), [("llir", "define void @softmax"), ("asm", "softmax__programs:")])
def test_text_of_native_code(emit: str, sign: str, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert sign in written(capsysbinary, "--emit", emit, "--target", "cpu").decode()


@needs_triton
def test_machine_code_of_amd(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    code = written(capsysbinary, "--emit", "hsaco")
    assert code.startswith(b"\x7fELF")
    assert b"gfx942" in code


@needs_triton
def test_assertions(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """They are compiled in with `--debug`."""
    file = tmp_path / "asserted.py"
    file.write_text(ASSERTED)
    for words, count in (([], 0), (["--debug"], 1)):
        assert main(["compile", f"{file}:asserted", "--emit", "ttir", *words]) == 0
        assert capsysbinary.readouterr().out.count(b"tt.assert") == count


ASSERTED = """
import teeny as tn
import teeny.language as tl


@tn.kernel
def asserted(x_ptr: tl.Ptr[tl.f32]) -> None:
    x = tl.load(x_ptr)
    tl.device_assert(x > 0.0, "negative")
    tl.store(x_ptr, x)
"""


REFUSED: dict[str, tuple[list[str], int, str]] = {
    "no hsaco": (
        ["--emit", "hsaco", "--target", "sm_80"],
        2,
        "teeny compile: there is no hsaco for sm_80; there is ttir",
    ),
    "no ptx": (["--emit", "ptx", "--target", "gfx942"], 2, "teeny compile: there is no ptx for gfx942"),
    "no cubin": (["--emit", "cubin", "--portable"], 2, "teeny compile: there is no cubin for sm_90, portable"),
    "AMD is not portable": (
        ["--emit", "asm", "--portable", "--target", "gfx942"],
        1,
        "error[X007]: portable code is PTX",
    ),
    "no clusters": (["--emit", "ptx", "--num-ctas", "2", "--target", "sm_89"], 1, "error[L014]"),
    "no warps on a CPU": (["--emit", "object", "--num-warps", "2"], 1, "error[L014]"),
    "no such hint": (["--emit", "ptx", "--hint", "q"], 1, "error[L014]"),
}


@needs_triton
@pytest.mark.parametrize("name", REFUSED)
def test_what_a_target_lacks(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words, status, said = REFUSED[name]
    assert main(["compile", SOFTMAX, *CHOICES, *words, "-o", str(tmp_path / "out")]) == status
    assert capsys.readouterr().err.startswith(said)
    assert not (tmp_path / "out").exists()
