"""Reading takes time in proportion: four times the input, and by no means sixteen times the time."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from contextlib import suppress
from time import process_time

import pytest

from rehi.errors import ReadError
from rehi.extract import read_bytes

SMALL, TIMES = 100_000, 4  # bytes, and how many times as many
GROWTH = 9.0  # four is in proportion, sixteen the square

UNITS = [
    "<p>tekst siin</p>\n", "<p>tekst siin", "<div>tekst</div>", "tekst<br>", "<li>tekst", "<span>a</span> ", "<a href=x>a</a>",
    "<tr><td>a<td>b</tr>", "<td>a", "<ul><li>a</ul>", "<ol><li>a</ol>", "<h2>a</h2>\n", "<b>", "<div>", "</div>", "<table>",
    "<p><b>", "<font>", "<!-- a -->", "<img alt=a>", "&amp;", "&", "<", "<a ", "a=b ", "\"", "<script>a</script>", "<svg>",
    "<option>a", "<form>", "<button>a", "<select>", "<textarea>", "<template>", "<nobr>", "<meta name=a content=b>", "\n\n",
    " ", "õ", "\u00ad", "<math><mi>a</math>", "<main>a</main>", "<article>a</article>", "<dl><dt>a<dd>b</dl>",
    "<table><tr><td>a</table>", "<section><h1>a</h1>", "<pre>a\n", "<iframe>", "<title>a</title>", "<base href=a>", "<x-a>", "<q>",
]  # fmt: skip
PLAIN = ["tekst ", "a\n", "a,b\n", "\t", "http://a.ee/ ", '{"a":', "[", "- a\n", "# a\n", "<a>", "1 0 obj\n", "\x1b[1m"]


def _seconds(make: Callable[[int], bytes], size: int, media_type: str) -> float:
    """The processor time of reading so many bytes, the least of three times."""
    body = make(size)
    best = float("inf")
    for _ in range(3):
        began = process_time()
        with suppress(ReadError):
            read_bytes(io.BytesIO(body), name="", media_type=media_type, size=len(body), max_text=10_000_000)
        best = min(best, process_time() - began)
    return best


def _check(make: Callable[[int], bytes], media_type: str) -> None:
    large = _seconds(make, SMALL * TIMES, media_type)
    if large > 1.0:  # what is read so quickly needs no proportion, and on a busy machine shows none
        assert large < GROWTH * _seconds(make, SMALL, media_type)


def _repeat(unit: str, before: str = "") -> Callable[[int], bytes]:
    return lambda size: (before + unit * (size // len(unit.encode()))).encode()


@pytest.mark.parametrize("unit", UNITS)
def test_of_a_page_of_the_same_again_and_again(unit: str) -> None:
    _check(_repeat(unit, "<html><body>"), "text/html")


@pytest.mark.parametrize(
    "media_type", ["text/plain", "text/csv", "application/json", "application/xml", "text/markdown"]
)
@pytest.mark.parametrize("unit", PLAIN)
def test_of_a_text_of_the_same_again_and_again(unit: str, media_type: str) -> None:
    _check(_repeat(unit), media_type)


@pytest.mark.parametrize("seed", range(12))
def test_of_a_page_of_units_in_any_order(seed: int) -> None:
    chosen = random.Random(seed).sample(UNITS, 4)
    _check(_repeat("".join(chosen), "<html><body>"), "text/html")


def test_a_page_in_pieces_has_the_same_words_as_one_at_once() -> None:
    rows = "".join(f"<tr><td>Jaan {n}<td>Tartu {n}</tr>" for n in range(9_000))
    items = "".join(f"<li>Mari {n}</li>" for n in range(9_000))
    body = f"<html><body><main class=sisu><p>Algus</p><table>{rows}</table><ol>{items}</ol><p>Lõpp</p></main>".encode()
    document = read_bytes(io.BytesIO(body), name="", media_type="text/html", size=len(body), max_text=10_000_000)
    words = document.text.split()
    assert words[0] == "Algus"
    assert words[-1] == "Lõpp"
    for n in (0, 1, 3_999, 4_000, 8_999):
        assert f"Jaan {n}; Tartu {n}" in document.text
        assert f"Mari {n}\n" in document.text
    assert len(words) == 2 + 9_000 * 4 + 9_000 * 2
