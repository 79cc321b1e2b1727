"""`teeny ops`: every function of the language, from the registry."""

from __future__ import annotations

import json

import pytest

import teeny.language as tl
from teeny.cli.main import main
from teeny.frontend.describe import descriptions, families, named
from teeny.ops.function import function_of


def test_every_function_of_the_language_is_described() -> None:
    public = {name for name in dir(tl) if function_of(getattr(tl, name)) is not None}
    assert public <= set(descriptions())
    assert {"cdiv", "sigmoid", "add", "expand"} <= set(descriptions())
    assert not {"rsub", "rtruediv", "rshl"} & set(descriptions())


@pytest.mark.parametrize("name", descriptions())
def test_each_description_is_complete(name: str) -> None:
    one = descriptions()[name]
    assert one.does
    assert one.summary
    assert not one.summary.endswith(".")
    assert one.written
    assert one.signatures
    assert one.family in families()
    assert not one.differs or one.differs.endswith(".")
    assert all(leaves for leaves in one.dtypes.values())


def test_what_the_registry_says_of_some() -> None:
    exp = named("exp")
    assert exp is not None
    assert exp.written == ("tl.exp(x)", "x.exp()")
    assert exp.signatures == ("tl.exp(x: Tensor[F]) -> Tensor[F]",)
    assert exp.dtypes == {"F": ("f16", "bf16", "f32", "f64")}
    assert exp.operations == {"f32": ("math.exp",)}
    assert exp.ulp is not None
    assert exp.ulp.cpu > 0
    add = named("add")
    assert add is not None
    assert add.operations == {"f32": ("arith.addf",), "i32": ("arith.addi",), "u32": ("arith.addi",)}
    assert add.signatures[0] == "(x: Tensor[N]) + (y: Tensor[N] | int) -> Tensor[N]"
    total = named("sum")
    assert total is not None
    assert total.dtypes["N"] == ("i32", "i64", "u32", "u64", "f16", "bf16", "f32", "f64")
    require = named("require")
    assert require is not None
    assert require.triton is None
    less = named("lt")
    assert less is not None
    assert less.ulp is None


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("tl.exp", "exp"), ("+", "add"), (".to", "cast"), ("x.sum", "sum"), ("==", "eq"), ("x + y", "add"),
        ("[]", "expand"), ("-x", "neg"), ("ptr + offset", "addptr"), ("tl.sigmoid", "sigmoid"),
    ],
)  # fmt: skip
def test_names_as_people_type_them(typed: str, name: str) -> None:
    found = named(typed)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize("typed", ["", "tl", "nothing", "x.", "rsub"])
def test_what_is_no_function(typed: str) -> None:
    assert named(typed) is None


def test_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops"]) == 0
    shown = capsys.readouterr().out
    for one in descriptions().values():
        assert f"  {one.main} " in shown
    assert all(f"{title}\n" in shown for title in families().values())
    assert "\x1b" not in shown


def test_one_function(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops", "tl.tanh"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("tl.tanh(x)\n\nThe hyperbolic tangent.")
    assert "signatures  tl.tanh(x: Tensor[F]) -> Tensor[F]\n" in shown
    assert "in Triton   libdevice.tanh" in shown


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["functions"]
    assert [one["name"] for one in found] == list(descriptions())
    assert {"family", "summary", "signatures", "dtypes", "ulp", "triton", "differs", "shapes"} <= set(found[0])
    assert main(["ops", "exp", "--format", "json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["functions"]
    assert one["name"] == "exp"
    assert one["ulp"]["cpu"] > 0


def test_an_unknown_function(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops", "expp"]) == 2
    assert "there is no" not in capsys.readouterr().out
    assert main(["ops", "sqroot"]) == 2
    assert "the language has no function `sqroot`" in capsys.readouterr().err
