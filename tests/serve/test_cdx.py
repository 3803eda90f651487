"""The CDX server: the captures of a URL, a host or a domain, in the words of web archives."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.serve.conftest import Ask
from tests.serve.kept_web import OLD, PAGE, QUERY, KeptWeb

STAMPS = ["20260301120000", "20260302120000", "20260311120000", "20260321120000"]


def column(ask: Ask, field: str, query: str) -> list[str]:
    return ask(f"/cdx?fl={field}&{query}").text.splitlines()


def test_a_row_has_the_eleven_columns_and_leads_to_the_record(ask_kept: Ask, kept: KeptWeb) -> None:
    rows = [line.split(" ") for line in ask_kept(f"/cdx?url={PAGE}").text.splitlines()]
    assert [row[1] for row in rows] == STAMPS
    assert all(len(row) == 11 for row in rows)
    assert rows[0][0] == "test,rehemaa)/teated"
    assert [row[3] for row in rows] == ["text/html", "warc/revisit", "text/html", "text/html"]
    assert [row[4] for row in rows] == ["200", "304", "200", "200"]
    assert rows[0][5] == rows[1][5] != rows[2][5]
    from warcio.archiveiterator import ArchiveIterator

    with Path(kept.house.archive_folder, rows[0][10]).open("rb") as file:
        file.seek(int(rows[0][9]))
        record = next(iter(ArchiveIterator(file)))
        assert record.rec_headers.get_header("WARC-Target-URI") == PAGE
        assert record.content_stream().read() == OLD


def test_json_has_the_names_first_and_cdxj_an_object(ask_kept: Ask) -> None:
    names, *rows = ask_kept(f"/cdx?url={PAGE}&output=json&fl=timestamp,original").json
    assert names == ["timestamp", "original"]
    assert rows == [[stamp, PAGE] for stamp in STAMPS]
    key, stamp, said = ask_kept(f"/cdx?url={PAGE}&output=cdxj&limit=1").text.strip().split(" ", 2)
    assert (key, stamp) == ("test,rehemaa)/teated", STAMPS[0])
    assert json.loads(said)["mime"] == "text/html"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (f"url={PAGE}&from=20260302&to=20260311", STAMPS[1:3]),
        (f"url={PAGE}&from=2027", []),
        (f"url={PAGE}&limit=2", STAMPS[:2]),
        (f"url={PAGE}&limit=-1", STAMPS[3:]),
        (f"url={PAGE}&limit=2&offset=1", STAMPS[1:3]),
        (f"url={PAGE}&collapse=digest", [STAMPS[0], *STAMPS[2:]]),
        (f"url={PAGE}&collapse=timestamp:6", STAMPS[:1]),
        (f"url={PAGE}&filter=statuscode:200", [STAMPS[0], *STAMPS[2:]]),
        (f"url={PAGE}&filter=!statuscode:200", STAMPS[1:2]),
        (f"url={PAGE}&filter=mimetype:text/.*&filter=!timestamp:20260301.*", STAMPS[2:]),
        ("url=www.rehemaa.test/teated/", STAMPS),
        ("url=http://nowhere.test/", []),
    ],
)
def test_captures_are_chosen_as_in_other_archives(ask_kept: Ask, query: str, expected: list[str]) -> None:
    assert column(ask_kept, "timestamp", query) == expected


@pytest.mark.parametrize(
    ("query", "urls"),
    [
        ("url=http://rehemaa.test/v&matchType=prefix", 1),
        ("url=rehemaa.test/*", 3),
        ("url=rehemaa.test&matchType=host", 3),
        ("url=http://rehemaa.test/any&matchType=host", 3),
        ("url=rehemaa.test&matchType=domain", 9),
        ("url=*.rehemaa.test", 9),
    ],
)
def test_a_prefix_a_host_and_a_domain(ask_kept: Ask, query: str, urls: int) -> None:
    found = column(ask_kept, "original", query)
    assert len(set(found)) == urls
    assert found == sorted(found)


def test_redirects_are_listed_with_where_they_led(ask_kept: Ask) -> None:
    rows = ask_kept("/cdx?url=rehemaa.test&matchType=host&fl=original,statuscode,redirect").text.splitlines()
    assert "http://rehemaa.test/vana 307 " + PAGE in rows
    assert "http://rehemaa.test/halb 301 -" in rows


def test_a_long_list_is_read_in_parts(ask_kept: Ask) -> None:
    whole = column(ask_kept, "original,timestamp", "url=*.test")
    parts: list[str] = []
    key = ""
    for _ in range(len(whole)):
        lines = column(ask_kept, "original,timestamp", f"url=*.test&limit=3&showResumeKey=true{key}")
        if "" not in lines:
            parts += lines
            break
        parts += lines[: lines.index("")]
        key = f"&resumeKey={quote(lines[-1])}"
    assert parts == whole


def test_a_url_is_one_word(ask_kept: Ask) -> None:
    assert column(ask_kept, "original", f"url={quote(QUERY, safe='')}") == [QUERY]


@pytest.mark.parametrize(
    "query",
    [
        "", "url=", f"url={PAGE}&output=xml", f"url={PAGE}&fl=nothing", f"url={PAGE}&limit=many", f"url={PAGE}&from=soon",
        f"url={PAGE}&filter=statuscode", f"url={PAGE}&filter=digest:(a%2B", f"url={PAGE}&matchType=any",
        f"url={PAGE}&resumeKey=xyz", f"url={PAGE}&collapse=nothing", "url=%5B&matchType=host", f"url={PAGE}&offset=-1",
    ],
)  # fmt: skip
def test_a_question_that_makes_no_sense_is_refused(ask_kept: Ask, query: str) -> None:
    answer = ask_kept(f"/cdx?{query}")
    assert answer.status == 400
    assert len(answer.json["detail"]) > 10
