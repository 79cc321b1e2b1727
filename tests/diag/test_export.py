"""JSON goes there and back; SARIF has what its readers require."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from teeny.diag import Diagnostic, Edit, Fix, Location, SourceFile, Span, also, at, report
from teeny.diag.export import from_json, to_json, to_sarif
from teeny.diag.span import byte_length
from tests.diag.sources import diagnostics, spans, texts, wild_spans

FILE = SourceFile("dir/größe.py", "x = 'ü' + tl.max(y)\nz = 1\n")
DIAGNOSTIC = report(
    "F001",
    "undefined lanes of `y` take part in `tl.max`",
    at(Location(Span(FILE, 1, 11, 1, 20), "tl.max", Location(Span(FILE, 2, 0, 2, 5), "top")), "here"),
    also(Location(Span(FILE, 2, 0, 2, 1))),
    help=("fill them",),
    notes=("a note",),
    fixes=(Fix("fill", (Edit(Span(FILE, 1, 19, 1, 19), ", other=0.0"),)),),
    kernel="softmax",
    facts=(("witness", "lane 3"),),
)


def test_the_schema_of_json() -> None:
    place = {"file": "dir/größe.py", "line": 1, "column": 11, "end_line": 1, "end_column": 20}
    call = {"file": "dir/größe.py", "line": 2, "column": 1, "end_line": 2, "end_column": 6}
    assert to_json(DIAGNOSTIC) == {
        "code": "F001",
        "severity": "error",
        "message": "undefined lanes of `y` take part in `tl.max`",
        "kernel": "softmax",
        "labels": [
            {
                "frames": [{"span": place, "name": "tl.max"}, {"span": call, "name": "top"}],
                "text": "here",
                "primary": True,
            },
            {"frames": [{"span": {**call, "end_column": 2}, "name": None}], "text": "", "primary": False},
        ],
        "facts": [{"name": "witness", "text": "lane 3"}],
        "notes": ["a note"],
        "help": ["fill them"],
        "fixes": [
            {
                "title": "fill",
                "edits": [{"span": {**place, "column": 19, "end_column": 19}, "replacement": ", other=0.0"}],
            }
        ],
    }


def in_two_files(files: tuple[SourceFile, SourceFile]) -> st.SearchStrategy[Diagnostic]:
    return diagnostics(spans(st.sampled_from(files)))


two_files = st.tuples(*[st.builds(SourceFile, st.just(name), texts) for name in ("a.py", "dir/b.py")])


@given(two_files.flatmap(lambda files: st.tuples(st.just(files), in_two_files(files))))
def test_json_goes_there_and_back(drawn: tuple[tuple[SourceFile, SourceFile], Diagnostic]) -> None:
    files, diagnostic = drawn
    named = {file.name: file for file in files}
    assert from_json(json.loads(json.dumps(to_json(diagnostic))), named.__getitem__) == diagnostic


@given(diagnostics(wild_spans))
def test_anything_can_be_exported(diagnostic: Diagnostic) -> None:
    json.dumps(to_json(diagnostic))
    check_sarif(to_sarif([diagnostic]))


def test_sarif_of_one_finding() -> None:
    log = to_sarif([DIAGNOSTIC])
    assert log["version"] == "2.1.0"
    run = check_sarif(log)
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["F001"]
    assert run["columnKind"] == "unicodeCodePoints"
    (result,) = run["results"]
    assert result["ruleId"] == "F001"
    assert result["level"] == "error"
    assert result["message"]["text"].startswith("undefined lanes of `y` take part in `tl.max`")
    (place,) = result["locations"]
    assert place["physicalLocation"] == {
        "artifactLocation": {"uri": "dir/gr%C3%B6%C3%9Fe.py"},
        "region": {"startLine": 1, "startColumn": 11, "endLine": 1, "endColumn": 20},
    }
    assert place["logicalLocations"] == [{"name": "softmax", "kind": "function"}]
    assert [related["physicalLocation"]["region"]["startLine"] for related in result["relatedLocations"]] == [2, 2]
    (change,) = result["fixes"][0]["artifactChanges"]
    assert change["replacements"] == [
        {
            "deletedRegion": {"startLine": 1, "startColumn": 19, "endLine": 1, "endColumn": 19},
            "insertedContent": {"text": ", other=0.0"},
        }
    ]


def test_sarif_without_places_and_of_nothing() -> None:
    (result,) = check_sarif(to_sarif([report("L008", "no grid", kernel="softmax")]))["results"]
    assert result["locations"] == [{"logicalLocations": [{"name": "softmax", "kind": "function"}]}]
    assert check_sarif(to_sarif([]))["results"] == []


def test_equal_findings_are_exported_once_and_rules_are_shared() -> None:
    other = report("E002", "m", at(Location(Span(FILE, 2, 0, 2, 1))))
    run = check_sarif(to_sarif([other, DIAGNOSTIC, other]))
    assert [result["ruleId"] for result in run["results"]] == ["F001", "E002"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["E002", "F001"]


def test_absolute_paths_become_file_uris() -> None:
    file = SourceFile("/elsewhere/a b.py", "x")
    run = check_sarif(to_sarif([report("E001", "m", at(Location(Span(file, 1, 0, 1, byte_length("x")))))]))
    uri = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "file:///elsewhere/a%20b.py"


def check_sarif(log):
    """What SARIF 2.1.0 requires of the parts that are used; the only run comes back."""
    assert set(log) == {"$schema", "version", "runs"}
    json.dumps(log)
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert run["tool"]["driver"]["name"] == "teeny"
    for result in run["results"]:
        assert result["message"]["text"] is not None
        assert result["level"] in ("error", "warning", "note", "none")
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        for place in result.get("locations", []) + result.get("relatedLocations", []):
            if "physicalLocation" in place:
                assert place["physicalLocation"]["artifactLocation"]["uri"]
                check_region(place["physicalLocation"]["region"])
        related = [json.dumps(place) for place in result.get("relatedLocations", [])]
        assert len(related) == len(set(related))
        for fix in result.get("fixes", []):
            assert fix["artifactChanges"]
            for change in fix["artifactChanges"]:
                assert change["replacements"]
                for replacement in change["replacements"]:
                    check_region(replacement["deletedRegion"])
    return run


def check_region(region) -> None:
    start = (region["startLine"], region["startColumn"])
    assert min(start) >= 1
    assert start <= (region["endLine"], region["endColumn"])
