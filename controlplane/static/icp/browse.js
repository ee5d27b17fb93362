// The trace browser: dragging over the density strip, the row of the open drawer, leaving out by Alt click.

class Strip extends HTMLElement {
  connectedCallback() {
    this.svg = this.querySelector("svg");
    this.bars = [...this.querySelectorAll("a")];
    this.bars.forEach((bar, place) => bar.setAttribute("tabindex", place ? -1 : 0)); // one stop for Tab, arrows inside
    this.addEventListener("keydown", (event) => this.step(event));
    this.addEventListener("pointerdown", (event) => this.begin(event));
    this.addEventListener("pointermove", (event) => this.widen(event));
    this.addEventListener("pointerup", (event) => this.end(event));
    this.addEventListener("dragstart", (event) => event.preventDefault());
    this.addEventListener("click", (event) => this.dragged && event.preventDefault());
  }

  step(event) {
    const by = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity }[event.key];
    if (!by) return;
    event.preventDefault();
    const place = this.bars.indexOf(document.activeElement) + by;
    const bar = this.bars[Math.max(0, Math.min(this.bars.length - 1, place))];
    for (const other of this.bars) other.setAttribute("tabindex", other === bar ? 0 : -1);
    bar.focus();
  }

  at(event) {
    const box = this.svg.getBoundingClientRect();
    const place = Math.floor(((event.clientX - box.left) / box.width) * this.bars.length);
    return Math.max(0, Math.min(this.bars.length - 1, place));
  }

  begin(event) {
    this.dragged = false;
    this.from = event.button === 0 ? this.at(event) : null;
  }

  widen(event) {
    if (this.from == null || !event.buttons) return;
    const [first, last] = [this.from, this.at(event)].sort((a, b) => a - b);
    if (first === last && !this.dragged) return;
    this.dragged = true;
    this.chosen = [this.bars[first], this.bars[last]];
    const width = this.svg.viewBox.baseVal.width / this.bars.length;
    const mark = this.svg.querySelector(".window");
    mark.removeAttribute("hidden");
    mark.setAttribute("x", first * width);
    mark.setAttribute("width", (last - first + 1) * width);
  }

  end() {
    this.from = null;
    if (!this.dragged) return;
    const [first, last] = this.chosen.map((bar) => new URL(bar.href.baseVal, location.href));
    first.searchParams.set("until", last.searchParams.get("until"));
    location.assign(first);
  }
}

customElements.define("icp-strip", Strip);

// A list without a filter counts what a push tells of; a filtered one asks the server (_news.html).
document.addEventListener("icp:entry", () => {
  const number = document.querySelector("[data-counts] [data-number]");
  if (!number) return;
  number.textContent = Number(number.textContent) + 1;
  number.parentElement.hidden = false;
});

const drawer = () => document.getElementById("drawer");

function mark() {
  for (const link of document.querySelectorAll("[data-entry][data-item]")) {
    if (link.dataset.entry === drawer()?.dataset.entry) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

document.addEventListener("htmx:afterSettle", mark);
document.addEventListener("click", (event) => {
  const facet = event.target.closest("[data-exclude]");
  if (facet && event.altKey) {
    event.preventDefault();
    location.assign(facet.dataset.exclude);
  }
  const close = event.target.closest("[data-close-drawer]");
  if (!close) return;
  event.preventDefault();
  const { entry } = drawer().dataset;
  history.replaceState(null, "", close.href);
  drawer().hidden = true;
  drawer().replaceChildren();
  delete drawer().dataset.entry;
  mark();
  document.querySelector(`[data-item][data-entry="${CSS.escape(entry)}"]`)?.focus();
});
const facets = document.getElementById("facets");
if (facets && matchMedia("(max-width: 1180px)").matches) facets.open = false;

const current = document.querySelector("[data-entry][aria-current], .timeline [aria-current]");
current?.closest("details")?.setAttribute("open", "");
current?.scrollIntoView({ block: "center" });
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-fold]");
  for (const run of button ? document.querySelectorAll(".run") : []) run.open = button.dataset.fold === "open";
});
