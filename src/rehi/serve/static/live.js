// Keeps the numbers of a [data-live] section fresh, once a second, for as long as the page is looked at; and the
// [data-part]s of a page, tables and pictures, every other second from the page itself.
"use strict";

const read = (object, path) => path.split(".").reduce((at, key) => (at == null ? undefined : at[key]), object);
const show = (value) => (typeof value === "number" ? Math.round(value).toLocaleString("en").replaceAll(",", " ") : value);

function fill(section, data) {
  for (const element of section.querySelectorAll("[data-value]")) {
    const value = read(data, element.dataset.value);
    if (value === undefined) continue;
    if (element.tagName === "PROGRESS") {
      element.value = value;
      continue;
    }
    const before = element.textContent;
    element.textContent = show(value);
    // A source has been taken in: its tables and pictures are drawn anew.
    if ("reload" in element.dataset && before && before !== element.textContent) location.reload();
  }
  for (const element of section.querySelectorAll("[data-show]")) element.hidden = !read(data, element.dataset.show);
  for (const element of section.querySelectorAll("progress[data-max]")) {
    element.max = read(data, element.dataset.max) || 1;
    element.value = element.max - read(data, element.dataset.minus);
  }
}

for (const section of document.querySelectorAll("[data-live]")) {
  setInterval(async () => {
    if (document.hidden) return;
    try {
      const answer = await fetch(section.dataset.live, { headers: { accept: "application/json" } });
      if (answer.ok) fill(section, await answer.json());
    } catch {
      // The server is away; the next second may bring it back.
    }
  }, 1000);
}

async function redraw() {
  const answer = await fetch(location.href, { headers: { accept: "text/html" } });
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of document.querySelectorAll("[data-part]")) {
    const next = fresh.getElementById(part.id);
    // Whoever is at a link in it, with the keyboard, must not lose their place.
    if (!next || next.innerHTML === part.innerHTML || part.contains(document.activeElement)) continue;
    part.replaceChildren(...document.importNode(next, true).childNodes);
  }
}

async function keepDrawing() {
  try {
    if (!document.hidden) await redraw();
  } catch {
    // As above.
  }
  setTimeout(keepDrawing, 2000);
}

if (document.querySelector("[data-part]")) setTimeout(keepDrawing, 2000);
