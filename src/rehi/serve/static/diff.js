// Fetches a [data-lazy] part of a page from its own address, and puts it where the link to it stood.
"use strict";

for (const part of document.querySelectorAll("[data-lazy]")) {
  part.setAttribute("aria-busy", "true");
  (async () => {
    try {
      const answer = await fetch(part.dataset.lazy, { headers: { accept: "text/html" } });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = answer.ok && page.getElementById(part.id);
      if (fresh) part.replaceChildren(...document.importNode(fresh, true).childNodes);
    } catch {
      // The link stays where it is.
    }
    part.removeAttribute("aria-busy");
  })();
}
