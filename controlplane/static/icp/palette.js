// The palette: Ctrl K or ⌘K anywhere, / where a page has no search of its own. The server finds (templates/palette);
// the arrows walk over what it found, Enter opens the first of it or the one with the focus.

const palette = document.getElementById("palette");

document.addEventListener("keydown", (event) => {
  if (!palette || event.key.toLowerCase() !== "k" || event.ctrlKey === event.metaKey || event.altKey || event.shiftKey) return;
  event.preventDefault();
  palette.togglePopover();
});

palette?.addEventListener("keydown", (event) => {
  const links = [...palette.querySelectorAll("a")];
  const at = links.indexOf(document.activeElement);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) (links[Math.min(links.length - 1, at + step)] ?? palette.querySelector("input")).focus();
  else if (event.key === "Enter" && at < 0 && links.length) links[0].click();
  else return;
  event.preventDefault();
});
