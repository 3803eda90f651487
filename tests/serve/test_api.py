"""REST gives programs what the pages show, and refuses what is wrong with one clear sentence."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from rehi.testing.waiting import wait_until
from tests.conftest import Harvested
from tests.serve.conftest import Ask


def form(name: str, content: bytes, *, start: bool = True) -> tuple[bytes, str]:
    edge = "edge-of-the-form"
    begin = f'--{edge}\r\nContent-Disposition: form-data; name="start"\r\n\r\non\r\n' if start else ""
    head = f'{begin}--{edge}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    return head.encode() + content + f"\r\n--{edge}--\r\n".encode(), f"multipart/form-data; boundary={edge}"


def test_the_numbers_of_a_source_add_up(ask: Ask) -> None:
    (source,) = [row for row in ask("/api/sources").json if row["name"] == "world.log"]
    counts = source["counts"]
    assert source["state"] == "done"
    assert counts["lines"] == counts["accepted"] + counts["rejected"] + counts["malformed"]
    assert counts["rejected"] == sum(n for what, n in counts.items() if what.startswith("rejected:"))
    assert counts["visited"] == sum(counts.get(o, 0) for o in ("new", "unchanged", "redirect", "forbidden", "failed"))
    assert counts["statements"] > counts["documents"] > 0


def test_documents_can_be_narrowed_down(ask: Ask, harvested: Harvested) -> None:
    everything = ask("/api/documents?limit=1").json["total"]
    pdf = ask("/api/documents?type=application/pdf&limit=1000").json
    assert 0 < pdf["total"] < everything
    assert all(row["media_type"] == "application/pdf" for row in pdf["documents"])
    host = harvested.world.documents[0].url.split("/")[2]
    here = ask(f"/api/documents?host={host}&limit=1000").json["documents"]
    assert here
    assert all(host in row["url"] for row in here)


def test_a_document_has_its_names_its_versions_and_its_text(ask: Ask, harvested: Harvested) -> None:
    url = next(d.url for d in harvested.world.documents if d.language == "et" and d.format == "html")
    row = next(r for r in ask(f"/api/documents?q={quote(url)}").json["documents"] if r["url"] == url)
    found = ask(f"/api/documents/{row['resource_id']}").json
    assert found["names"]
    assert found["versions"][0]["digest"].startswith("sha256:")
    reading = ask(f"/api/documents/{row['resource_id']}/annotations").json
    text, mentions = reading["document"]["text"], reading["facets"]["names"]
    assert mentions
    assert all(text[m["start"] : m["end"]] == m["surface"] for m in mentions)


def test_an_entity_is_found_by_the_beginning_of_its_name_in_any_case(ask: Ask) -> None:
    entity = ask("/api/entities?limit=1").json[0]
    start = entity["name"][:4].upper()
    found = ask(f"/api/entities?name={quote(start)}&limit=1000").json
    assert entity["key"] in [row["key"] for row in found]
    one = ask(f"/api/entities/{entity['key']['kind']}/{quote(entity['key']['slug'])}").json
    assert (one["id"], one["documents"]) == (entity["id"], entity["documents"])


def test_problems_are_counted_by_class_and_narrowed_down(ask: Ask) -> None:
    everything = ask("/api/problems?limit=1000").json
    counted = {(one["stage"], one["code"]): one["problems"] for one in everything["classes"]}
    assert sum(counted.values()) == everything["total"] == len(everything["problems"])
    few = ask("/api/problems?code=timed-out&stage=fetch&limit=1").json
    assert few["total"] == counted["fetch", "timed-out"]
    assert [row["code"] for row in few["problems"]] == ["timed-out"]
    assert {one["stage"] for one in few["classes"]} == {"fetch"}
    nothing = ask("/api/problems?code=%25'--").json
    assert (nothing["total"], nothing["problems"]) == (0, [])
    assert nothing["classes"] == everything["classes"]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/documents/999999999", 404),
        ("/api/documents/x", 404),
        ("/api/documents?limit=0", 400),
        ("/api/documents?limit=many", 400),
        ("/api/entities/dog/rex", 404),
        ("/api/entities/person/nobody-of-this-name", 404),
        ("/api/problems?stage=kitchen", 400),
        ("/api/sources/77", 404),
        ("/nowhere", 404),
    ],
)
def test_what_is_not_there_gets_a_sentence(ask: Ask, path: str, status: int) -> None:
    answer = ask(path)
    assert answer.status == status
    assert len(answer.json["detail"]) > 5


def test_a_list_that_is_uploaded_is_taken_in_and_harvested(ask: Ask, harvested: Harvested) -> None:
    urls = [document.url for document in harvested.world.documents[:3]]
    body, kind = form("lugemist.txt", "\n".join(urls).encode())
    answer = ask("/api/sources", body=body, Content_Type=kind)
    assert answer.status == 201, answer.text
    address = f"/api/sources/{answer.json['id']}"
    wait_until(lambda: ask(address).json["state"] == "done", what="the source is taken in", pause=0.1)
    assert ask(address).json["counts"]["accepted"] == 3
    assert ask("/api/sources", body=body, Content_Type=kind).status == 409


@pytest.mark.parametrize("content", [b"", b"\x00\x01\x02" * 500, b"one two three\nfour\n"])
def test_an_upload_that_is_no_source_is_refused(ask: Ask, content: bytes) -> None:
    body, kind = form("../../halb.log", content)
    answer = ask("/api/sources", body=body, Content_Type=kind)
    assert answer.status == 422
    assert "halb" in answer.json["detail"]


def test_other_pages_in_the_browser_can_change_nothing(ask: Ask) -> None:
    body, kind = form("a.txt", b"http://a.test/\n")
    assert ask("/api/sources", body=body, Content_Type=kind, Origin="http://evil.test").status == 403
    assert ask("/api/sources", body=body, Content_Type=kind, Sec_Fetch_Site="cross-site").status == 403
    assert ask("/api/status", Host="evil.test").status == 421


def test_on_a_public_address_changes_need_the_token(guarded: Ask) -> None:
    body, kind = form("a.txt", b"http://a.test/\n", start=False)
    assert guarded("/api/status").status == 200
    assert guarded("/api/sources", body=body, Content_Type=kind).status == 401
    assert guarded("/api/sources", body=body, Content_Type=kind, Authorization="Bearer wrong").status == 401
    assert guarded("/api/sources", body=body, Content_Type=kind, Authorization="Bearer sesam").status == 201
    assert guarded("/login", body=b"token=wrong").status == 401
    cookie = guarded("/login", body=b"token=sesam").headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    session = cookie.partition(";")[0]
    assert guarded("/api/sources/1/start", body=b"", Cookie=session).status == 202


def test_every_answer_forbids_foreign_scripts(ask: Ask) -> None:
    for path in ("/", "/api/status", "/nowhere"):
        headers = ask(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
