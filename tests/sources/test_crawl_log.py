"""Tests of crawl logs."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rehi.model.claims import Claims
from rehi.model.source import Entry, Finding, Malformed, Rejected
from rehi.sources.crawl_log import is_crawl_log_line, read_crawl_log

PAGE = "http://www.example.ee/uudis.html"
CORPUS = Path(os.environ.get("REHI_CORPORA", Path(__file__).parents[3] / "shared" / "corpora")) / "01-heritrix"


def log_line(
    uri: str = PAGE, *, status: str = "200", path: str = "LL", via: str = "http://www.example.ee/", media: str = "text/html"
) -> bytes:  # fmt: skip
    return (
        f"2014-05-08T21:35:57.220Z {status:>5} {12642:>10} {uri} {path} {via} {media} #012 "
        f'20140508213556900+310 sha1:5YIEH4B6QW27BCRQFR4RDV3ZMEPHDRRP - - {{"contentSize":12999}}'
    ).encode()


def finding(line: bytes) -> Entry:
    (one,) = read_crawl_log([line])
    return one


def test_a_page_that_was_fetched_is_found() -> None:
    assert finding(log_line()) == Finding(PAGE)


@pytest.mark.parametrize(
    ("declared", "claimed"),
    [
        ("text/csv", "text/csv"),
        ("Application/PDF", "application/pdf"),
        ("application/json;charset=utf-8", "application/json"),
        ("text/html", ""),
        ("application/xhtml+xml", ""),
        ("text/plain", ""),
        ("application/octet-stream", ""),
        ("no-type", ""),
    ],
)
def test_the_type_of_a_file_is_claimed_and_that_of_a_page_is_not(declared: str, claimed: str) -> None:
    line = f"20080331115022123 200 12642 {PAGE} LLL http://a.ee/ {declared} #012 20080331115021900+210 sha1:ABC - -"
    assert finding(line.encode()) == Finding(PAGE, Claims(media_type=claimed))
    missing = line.replace(" 200 ", " 404 ")
    assert finding(missing.encode()) == Finding(PAGE), "an error page is no file"


@pytest.mark.parametrize(
    "line",
    [
        "20080331115022123   200      12642 {} LLL http://www.example.ee/ text/html #012 20080331115021900+210 sha1:ABC - -",
        "20080331115022123   200      12642 {} LLL http://www.example.ee/ text/html #012 20080331115021900+210 sha1:ABC",
        "20080331115022   200          - {} - - text/html #3 -",
        "20080331115022   200          - {} - - text/html",
        "2014-05-08T21:35:57Z 200 1 {} 50+LLLE http://www.example.ee/ text/html #001 - - - -",
        "2014-05-08T21:35:57.220Z\t200\t1\t{}\tLL\t-\ttext/html\t#001\t-\t-\t-\t-\r",
        "\ufeff2014-05-08T21:35:57.220Z 200 1 {} LL - text/html #001 - - - -",
    ],
)
def test_lines_of_both_heritrixes_are_understood(line: str) -> None:
    assert finding(line.format(PAGE).encode()) == Finding(PAGE)


@pytest.mark.parametrize("path", ["X", "LX", "LXE", "LLXLP", "XP"])
def test_what_was_only_reached_through_a_guess_is_dropped(path: str) -> None:
    assert finding(log_line(path=path)) == Rejected("speculative")


@pytest.mark.parametrize(
    ("uri", "status", "media"),
    [
        ("dns:www.example.ee", "1", "text/dns"),
        ("http://www.example.ee/robots.txt", "404", "text/html"),
        ("dns:a.ee", "-1", "unknown"),
    ],
)
@pytest.mark.parametrize("path", ["P", "LLEP"])
def test_the_page_that_needed_a_prerequisite_is_taken_in_its_place(
    uri: str, status: str, media: str, path: str
) -> None:
    assert finding(log_line(uri, status=status, path=path, via=PAGE, media=media)) == Finding(PAGE)


@pytest.mark.parametrize(
    ("via", "reason"),
    [
        ("-", "no-referrer"),
        ("nonsense", "no-referrer"),
        ("http://www.example.ee/robots.txt", "robots"),
        ("dns:www.example.ee", "dns"),
        ("ftp://www.example.ee/x", "scheme"),
        ("http://www.example.ee/x.ttf", "type"),
    ],
)
def test_a_referrer_that_is_no_page_is_rejected_too(via: str, reason: str) -> None:
    assert finding(log_line("dns:www.example.ee", status="1", path="P", via=via, media="text/dns")) == Rejected(reason)


@pytest.mark.parametrize("path", ["PL", "LPE", "-", "LLR", "I"])
def test_a_prerequisite_further_back_is_only_history(path: str) -> None:
    assert finding(log_line(path=path, via="http://www.example.ee/robots.txt")) == Finding(PAGE)


@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        ("dns:www.example.ee", "dns"),
        ("ftp://ftp.example.ee/a.txt", "scheme"),
        ("whois://whois.example.ee/example.ee", "scheme"),
        ("mailto:mari@example.ee", "scheme"),
        ("http://www.example.ee/robots.txt", "robots"),
        ("https://www.example.ee:8443/robots.txt", "robots"),
    ],
)
def test_what_is_no_web_page_is_rejected_with_its_reason(uri: str, reason: str) -> None:
    assert finding(log_line(uri)) == Rejected(reason)


@pytest.mark.parametrize("status", ["0", "1", "-1", "-2", "-9998", "-5003", "5000", "99", "600"])
def test_codes_of_heritrix_itself_are_rejected(status: str) -> None:
    assert finding(log_line(status=status)) == Rejected("status")


@pytest.mark.parametrize("status", ["100", "200", "301", "404", "500", "599"])
def test_every_answer_of_http_is_accepted_for_the_page_may_be_back(status: str) -> None:
    assert finding(log_line(status=status)) == Finding(PAGE)


@pytest.mark.parametrize(
    ("uri", "media", "status", "accepted"),
    [
        ("http://www.example.ee/logo.png", "image/png", "200", False),
        ("http://www.example.ee/x", "image/png", "200", False),
        ("http://www.example.ee/x", "IMAGE/PNG;q=1", "200", False),
        ("http://www.example.ee/x", "image/png", "404", False),
        ("http://www.example.ee/data.json", "application/json", "200", True),
        ("http://www.example.ee/x.css", "unknown", "200", False),
        ("http://www.example.ee/x.css", "text/plain", "200", False),
        ("http://www.example.ee/x.txt", "text/plain", "200", True),
        ("http://www.example.ee/Pilt:kass.jpg", "text/html", "200", True),
        ("http://www.example.ee/kass.jpg", "text/html", "404", False),
        ("http://www.example.ee/kass.html", "text/html", "404", True),
        ("http://www.example.ee/x", "application/octet-stream", "200", True),
        ("http://www.example.ee/x.bin", "application/octet-stream", "200", False),
        ("http://www.example.ee/x.pdf", "application/octet-stream", "200", True),
    ],
)
def test_the_type_and_then_the_extension_tell_whether_there_is_text(
    uri: str, media: str, status: str, accepted: bool
) -> None:
    entry = finding(log_line(uri, media=media, status=status))
    assert (entry.url if isinstance(entry, Finding) else entry) == (uri if accepted else Rejected("type"))


def test_the_reason_is_the_first_that_applies() -> None:
    assert finding(log_line("http://www.example.ee/robots.txt", status="-9998", media="image/png")) == Rejected(
        "robots"
    )
    assert finding(log_line(status="-9998", media="image/png")) == Rejected("status")


def test_a_url_is_normalised() -> None:
    assert finding(log_line("HTTP://mari:x@WWW.Example.ee:80/a/../b#c")) == Finding("http://www.example.ee/b")


def test_spaces_in_the_url_the_referrer_or_the_type_do_no_harm() -> None:
    assert finding(log_line("http://www.example.ee/minu fail L.html")) == Finding(
        "http://www.example.ee/minu%20fail%20L.html"
    )
    assert finding(log_line(via="http://www.example.ee/minu fail.html")) == Finding(PAGE)
    assert finding(log_line(media="text/html; charset=utf-8")) == Finding(PAGE)
    assert finding(log_line(media="image/png; charset=utf-8")) == Rejected("type")
    prerequisite = log_line("dns:a.ee", status="1", path="P", via="http://www.example.ee/a b", media="text/dns")
    assert isinstance(finding(prerequisite), Finding)


def test_bytes_that_are_not_utf8_are_kept_as_escapes() -> None:
    line = log_line("http://www.example.ee/KOHT").replace(b"KOHT", b"k\xf5ik")
    assert finding(line) == Finding("http://www.example.ee/k%F5ik")


@pytest.mark.parametrize("line", [b"", b"   ", b"\t\r", b"\xef\xbb\xbf"])
def test_blank_lines_are_counted(line: bytes) -> None:
    assert finding(line) == Rejected("blank")


@pytest.mark.parametrize("line", [b"# made by hand", b"\xef\xbb\xbf# made by hand", b" #\r"])
def test_comments_are_counted_by_themselves(line: bytes) -> None:
    assert finding(line) == Rejected("comment")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"hello", "too few columns"),
        (log_line()[:60], "too few columns"),
        (log_line().replace(b"2014-05-08T", b"8 May "), "no timestamp in the first column"),
        (log_line(status="OK"), "no status in the second column"),
        (log_line(path="ll"), "no discovery path in the fifth column"),
        (log_line("http://"), "no URL in the fourth column"),
        (log_line("http://www.example.ee/" + "a" * 9_000), "no URL in the fourth column"),
        (log_line("http://www.example.ee/" + "a" * 70_000), "the line is longer than 65,536 bytes"),
        (log_line() + b" " + b"x" * 70_000, "the line is longer than 65,536 bytes"),
    ],
)
def test_a_line_that_is_none_is_reported_with_its_number(line: bytes, why: str) -> None:
    *_, last = read_crawl_log([log_line(), b"", line])
    assert isinstance(last, Malformed)
    assert (last.where, last.why) == (3, why)
    assert len(last.text) <= 200
    assert last.text.isprintable()


def test_a_long_line_of_plausible_columns_takes_no_time() -> None:
    line = b"20080331115022 200 1 " + b"L -:" * 16_000
    assert isinstance(finding(line), Malformed | Finding)


def test_reading_goes_on_after_the_lines_that_were_taken_in() -> None:
    lines = [log_line(f"http://www.example.ee/{number}") for number in range(5)] + [b"hello"]
    assert list(read_crawl_log(lines[3:], 3)) == [
        Finding("http://www.example.ee/3"),
        Finding("http://www.example.ee/4"),
        Malformed(6, "hello", "too few columns"),
    ]


_COLUMNS = st.lists(
    st.one_of(
        st.binary(max_size=20),
        st.sampled_from(
            [b"2014-05-08T21:35:57.220Z", b"20080331115022123", b"200", b"-5002", b"-", b"#012", b"LLP", b"LLX", b"LL",
             b"http://www.example.ee/", b"dns:x", b"http://[", b"http://a.ee/\xff", b"text/html", b"image/png"]
        ),
    ),
    max_size=14,
)  # fmt: skip


@given(st.lists(st.one_of(st.binary(max_size=300), _COLUMNS.map(b" ".join)), max_size=20))
def test_any_bytes_make_one_finding_a_line(lines: list[bytes]) -> None:
    findings = list(read_crawl_log(lines))
    assert len(findings) == len(lines)
    assert all(isinstance(one, Finding | Rejected | Malformed) for one in findings)


_WILD = st.tuples(
    st.sampled_from([b"2014-05-08T21:35:57.220Z", b"20080331115022123", b"x"]),
    st.sampled_from([b"200", b"-1", b"99999999999", b"x"]),
    st.just(b"1"),
    st.binary(min_size=1, max_size=60),
    st.sampled_from([b"-", b"LLE", b"P", b"LX", b"p"]),
    st.binary(min_size=1, max_size=60),
    st.binary(min_size=1, max_size=20),
    st.just(b"#001 - - - -"),
)


@given(_WILD)
def test_a_line_with_wild_columns_makes_one_finding(columns: tuple[bytes, ...]) -> None:
    assert len(list(read_crawl_log([b" ".join(columns)]))) == 1


@pytest.mark.skipif(not CORPUS.is_dir(), reason=f"no real crawl logs at {CORPUS}; set REHI_CORPORA")
def test_every_line_of_real_logs_is_accounted_for() -> None:
    logs = sorted(CORPUS.rglob("*.log"))
    assert logs
    for log in logs:
        lines = log.read_bytes().splitlines()
        findings = list(read_crawl_log(lines))
        kinds = Counter(type(one).__name__ for one in findings)
        assert kinds.total() == len(lines)
        assert kinds["Finding"] > 0
        assert kinds["Malformed"] == 0, [one for one in findings if isinstance(one, Malformed)]
        assert all(map(is_crawl_log_line, lines))


def test_the_header_of_an_arc_file_is_accounted_for() -> None:
    header = b"filedesc://IAH-20080331115022-00000-crawler.arc 0.0.0.0 20080331115022 text/plain 1302"
    assert finding(header) == Rejected("header")
    assert isinstance(finding(b"something else"), Malformed)
