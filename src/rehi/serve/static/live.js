// Keeps the numbers of a [data-live] section fresh, once a second, for as long as the page is looked at.
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
