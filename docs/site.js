// The theme's search has no name for a screen reader.
document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
