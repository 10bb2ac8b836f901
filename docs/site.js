// What the theme leaves out for those who use a keyboard or a screen reader.
document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
for (const code of document.querySelectorAll("pre > code")) code.tabIndex = 0;
