// Rows that a push brings: each in the place of the one with its id, or new in its list; nothing else is drawn
// anew. A list that is still empty, or of which something may have been missed, fetches itself ("icp:refresh").

const element = (html) => Object.assign(document.createElement("template"), { innerHTML: html }).content.firstElementChild;

function apply({ id, html, list, order }) {
  const [old, place] = [id, list].map((name) => document.getElementById(name));
  if (!old && !place) return list && document.querySelector("[data-empty]");
  const row = element(html);
  if (old) return replace(old, row);
  const sign = "newestFirst" in place.dataset ? -1 : 1; // a higher number may arrive before a lower one
  return insert(place, row, (other) => sign * (other.dataset.order - order) > 0);
}

function replace(old, row) {
  const focusable = (item) => [...item.querySelectorAll("a, summary, input")];
  const at = focusable(old).indexOf(document.activeElement);
  row.querySelector("details")?.toggleAttribute("open", old.querySelector("details")?.open ?? false);
  row.ariaCurrent = old.ariaCurrent;
  old.replaceWith(row);
  htmx.process(row);
  focusable(row)[at]?.focus();
}

function insert(list, row, isLater) {
  row.classList.add("arrived");
  list.insertBefore(row, [...list.children].find(isLater) ?? null);
  htmx.process(row);
  while (list.children.length > (list.dataset.most ?? Infinity)) list.lastElementChild.remove();
}

document.addEventListener("icp:rows", ({ detail }) => {
  if (detail.map(apply).some(Boolean)) document.body.dispatchEvent(new CustomEvent("icp:refresh"));
});
export { element, insert, replace };
