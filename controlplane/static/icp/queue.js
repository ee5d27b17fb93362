// The queue: nothing moves under the pointer, new rows are marked, scroll and count survive a swap,
// and rows can be selected for one answer.

const queue = () => document.getElementById("queue");
const checks = () => [...document.querySelectorAll("#queue [name=selected]")];
let held = false;
let last = null;
let known = new Set();
const scrolled = new Map();

const pushed = (event) => event.detail.requestConfig?.triggeringEvent?.type.startsWith("icp:");

// A push that arrives while the pointer is over the list waits behind a pill.
document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.target !== queue() || !pushed(event) || event.detail.requestConfig.triggeringEvent.detail?.release) return;
  const selecting = checks().some((check) => check.checked);
  if (!selecting && !(matchMedia("(hover: hover)").matches && queue().matches(":hover"))) return;
  event.preventDefault();
  held = true;
  queue().querySelector("[data-pill]").hidden = false;
});

function release() {
  if (!held) return;
  held = false;
  document.body.dispatchEvent(new CustomEvent("icp:approval", { detail: { release: true } }));
}

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-pill]")) release();
  if (event.target.closest("[data-clear]")) select([]);
});
document.addEventListener("pointerout", (event) => {
  const list = event.target.closest?.("#queue");
  if (list && !list.contains(event.relatedTarget) && !checks().some((check) => check.checked)) release();
});

document.addEventListener("htmx:beforeSwap", () => {
  known = new Set([...document.querySelectorAll("#queue [data-item]")].map((item) => item.id));
  for (const column of document.querySelectorAll("[data-keep-scroll]")) scrolled.set(column.id, column.scrollTop);
});

document.addEventListener("htmx:afterSettle", (event) => {
  for (const column of document.querySelectorAll("[data-keep-scroll]")) column.scrollTop = scrolled.get(column.id) ?? 0;
  if (event.target === queue() && pushed(event)) markArrivals();
  if (event.target.id === "card" && !pushed(event)) document.querySelector("#next-approval, #card-title")?.focus();
  title();
});

function markArrivals() {
  for (const item of document.querySelectorAll("#queue [data-item]")) {
    if (!known.has(item.id)) item.closest(".queue-card").classList.add("arrived");
  }
}

function title() {
  const waiting = document.getElementById("pending-count")?.dataset.count;
  const bare = document.title.replace(/^\(\d+\) /, "");
  document.title = Number(waiting) ? `(${waiting}) ${bare}` : bare;
}

function select(chosen) {
  for (const check of checks()) check.checked = chosen.includes(check);
  show();
}

function show() {
  const bar = document.getElementById("batch");
  if (!bar) return;
  const chosen = checks().filter((check) => check.checked);
  bar.hidden = !chosen.length;
  bar.querySelector("[data-chosen]").textContent = chosen.length;
}

document.addEventListener("change", (event) => {
  if (event.target.name === "selected") show();
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !document.querySelector(":popover-open")) select([]);
  const card = document.activeElement?.closest(".queue-card") ?? document.querySelector(".queue-card.current");
  const check = card?.querySelector("[name=selected]");
  if (event.key.toLowerCase() !== "x" || !check || event.ctrlKey || event.metaKey || event.altKey) return;
  if (document.activeElement.matches("textarea, input:not([type=checkbox], [type=radio])")) return;
  const all = checks();
  const range = event.shiftKey && last ? [all.indexOf(last), all.indexOf(check)].sort((a, b) => a - b) : null;
  if (range) for (const other of all.slice(range[0], range[1] + 1)) other.checked = true;
  else check.checked = !check.checked;
  last = check;
  show();
});
