// The theme's search has no name for a screen reader.
document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
// Nor does it let the keyboard scroll, tell the buttons that copy code apart, or bear a table without a word in its corner.
addEventListener("load", () => {
  document.querySelectorAll("pre > code, .md-typeset__scrollwrap").forEach((box) => { box.tabIndex = 0; });
  document.querySelectorAll(".md-code__nav").forEach((nav, k) => nav.setAttribute("aria-label", `Code ${k + 1}`));
  document.querySelectorAll("th:empty").forEach((head) => head.replaceWith(document.createElement("td")));
});
