"""Every kind of source accounts for all that it consists of: accepted, rejected with a reason, or malformed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rehi.builtin import BUILTIN
from tests.cli.command_line import rehi
from tests.sources.test_crawl_log import log_line
from tests.warcs import http, members, record, request, response

LIST = (
    b"\xef\xbb\xbfnr;url;title\n\n# of 2026\n1;http://a.test/;A\n2;http://b.test/;B\ndns:c.test\nftp://d.test/\n"
    b"nothing here\n   \n# the end\n5;http://a.test/;again"
)
LOG = b"\n".join(
    [
        b"filedesc://x.arc 0.0.0.0 20140508213557 text/plain 77", b"", b"# made by hand", log_line(), log_line(path="LX"),
        log_line("dns:a.test"), log_line(status="-61"), log_line(media="image/png"), log_line("http://a.test/robots.txt"), b"hello",
    ]
)  # fmt: skip
CRAWL = members(
    [
        request("http://a.test/"),
        response("http://a.test/", http()),
        record("warcinfo", block=b"software: x\r\n"),
        record("metadata", block=b"x: y\r\n"),
    ]
)
FILES = {
    "url-list": (
        "list.txt",
        LIST,
        11,
        {"accepted": 3, "malformed": 1, "rejected:header": 1, "rejected:comment": 2, "rejected:blank": 2},
    ),
    "crawl-log": (
        "crawl.log",
        LOG,
        10,
        {"accepted": 1, "malformed": 1, "rejected:header": 1, "rejected:comment": 1, "rejected:blank": 1},
    ),
    "warc": (
        "crawl.warc.gz",
        CRAWL,
        4,
        {"accepted": 1, "rejected:request": 1, "rejected:warcinfo": 1, "rejected:metadata": 1},
    ),
    "warc-in-place": ("crawl.warc.gz", CRAWL, 4, {"accepted": 1, "rejected:request": 1}),
}


@pytest.mark.parametrize("kind", FILES)
def test_what_a_file_consists_of_is_accounted_for(tmp_path: Path, kind: str) -> None:
    name, content, number, expected = FILES[kind]
    (tmp_path / name).write_bytes(content)
    in_place = ["--in-place"] if kind == "warc-in-place" else []
    added = rehi("add", str(tmp_path / name), *in_place, "--json", data=tmp_path / "data")
    source = json.loads(added.stdout)
    counts = source["counts"]
    assert (source["kind"], source["state"]) == (kind, "done")
    rejected = sum(n for name, n in counts.items() if name.startswith("rejected:"))
    unit = "records" if kind.startswith("warc") else "lines"
    assert counts[unit] == number
    assert counts[unit] == counts["accepted"] + rejected + counts.get("malformed", 0)
    assert counts.get("rejected", 0) == rejected
    assert {name: counts.get(name, 0) for name in expected} == expected


def test_no_kind_of_file_is_left_out() -> None:
    assert FILES.keys() | {"page"} == BUILTIN["source"].keys(), "a page is one entry, which is accepted"
