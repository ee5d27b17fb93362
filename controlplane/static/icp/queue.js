// The queue: a push changes single rows, never under the pointer; rows can be ticked for one answer.

import { element, insert, replace } from "./rows.js";

const queue = () => document.getElementById("queue");
const checks = () => [...document.querySelectorAll("#queue [name=selected]")];
const LEVELS = ["wide", "medium", "narrow"];
const waiting = []; // changes that wait until the pointer leaves the list
let last = null;
const scrolled = new Map();

// --- rows that a push brings ---

function count(pending) {
  const place = document.getElementById("pending-count");
  if (place) {
    place.dataset.count = pending;
    place.hidden = !pending;
    place.querySelector("[data-number]").textContent = pending;
  }
  title();
}

function receive({ detail }) {
  count(detail.pending);
  if (!queue() || (!detail.key && !detail.ended && !detail.strip)) return;
  waiting.push(detail);
  // It stays where it is, but no key leads to it any more.
  if (detail.ended) document.getElementById(`queue-${detail.id}`)?.setAttribute("data-ended", "");
  const busy = matchMedia("(hover: hover)").matches && queue().matches(":hover");
  if (!busy && !checks().some((check) => check.checked)) release();
  else if (detail.key) queue().querySelector("[data-pill]").hidden = false;
}

function release() {
  if (!queue()) return;
  queue().querySelector("[data-pill]").hidden = true;
  const changes = waiting.splice(0);
  if (changes.length && "filtered" in queue().dataset) document.body.dispatchEvent(new CustomEvent("icp:refresh"));
  else for (const change of changes) apply(change);
}

function apply({ key, row, ended, id, strip }) {
  if (strip) document.getElementById("strip")?.replaceWith(element(strip));
  if (key !== undefined) place(key, row ? element(row) : null);
  if (ended) end(id, element(ended));
  for (const group of queue().querySelectorAll("[data-group]")) recount(group);
  mark();
}

function place(key, row) {
  const old = document.getElementById(`row-${key}`);
  if (row && old?.dataset.level === row.dataset.level) replace(old, row);
  else {
    if (!old?.classList.contains("done")) old?.remove();
    if (row) insert(listFor(row), row, (other) => order(other) > order(row));
  }
}

// In the order of the queue: danger, then wait. What belongs behind the rows that are drawn is fetched with them.
const order = ({ dataset }) => dataset.at - dataset.rank * 1e10;

function listFor(row) {
  const { level } = row.dataset;
  const lists = [...queue().querySelectorAll(`[data-group="${level}"] ul`)];
  if (lists.length) return lists.find((list) => order(list.lastElementChild) > order(row)) ?? lists.at(-1);
  const group = element(`<section class="reach-group" data-group="${level}"><h2 class="group"><span></span><span class="end"></span></h2><ul></ul></section>`);
  group.querySelector("span").textContent = `${level[0].toUpperCase()}${level.slice(1)} reach`;
  const next = [...queue().querySelectorAll("[data-group]")].find((other) => LEVELS.indexOf(other.dataset.group) > LEVELS.indexOf(level));
  (next ?? queue().querySelector(".more") ?? document.getElementById("decided")).before(group);
  return group.querySelector("ul");
}

function end(id, row) {
  document.getElementById(`row-${id}`)?.remove();
  const place = document.getElementById("decided");
  place.hidden = false;
  place.querySelector("ul").prepend(row);
}

function recount(group) {
  const rows = [...group.querySelectorAll(".queue-card")];
  const calls = rows.reduce((sum, row) => sum + Number(row.dataset.calls), 0);
  if (!rows.length) group.remove();
  else if (!queue().querySelector(".more") && group.querySelector(".end")) {
    group.querySelector(".group .end").textContent = calls === rows.length ? calls : `${calls} in ${rows.length} rows`;
  }
}

document.addEventListener("icp:queue", receive);
document.addEventListener("icp:approval", ({ detail }) => {
  // Without a push connection the page looks for itself after its own decision.
  const live = document.documentElement.dataset.connection === "live";
  if (!live && !detail?.approval_id) document.body.dispatchEvent(new CustomEvent("icp:refresh"));
});
document.addEventListener("pointerout", (event) => {
  const list = event.target.closest?.("#queue");
  if (list && !list.contains(event.relatedTarget) && !checks().some((check) => check.checked)) release();
});

// --- the open card: fetched alone, the queue stays where it is ---

async function open(address, { focus = false } = {}) {
  const url = new URL(address, location.href);
  for (const name of ["q", "agent", "intent"]) {
    const value = new URLSearchParams(location.search).get(name);
    if (value && !url.searchParams.has(name)) url.searchParams.set(name, value);
  }
  const fragment = new URL(url);
  fragment.searchParams.set("fragment", "open");
  await htmx.ajax("GET", `${fragment.pathname}${fragment.search}`, { target: "#column-card", swap: "innerHTML show:none settle:0s" });
  if (location.href !== url.href) history.pushState({ card: true }, "", url);
  const main = document.getElementById("main");
  main.classList.remove("is-queue", "columns-empty");
  main.classList.add("has-card");
  document.getElementById("page").classList.add("has-open");
  document.getElementById("column-card").scrollTop = 0;
  if (matchMedia("(max-width: 760px)").matches) scrollTo(0, 0);
  mark();
  if (focus) document.getElementById("card-title")?.focus();
}

function mark() {
  const open = document.querySelector("#card[data-alike]")?.dataset.alike;
  for (const row of document.querySelectorAll("#queue .queue-card")) {
    const link = row.querySelector("[data-item]");
    const current = open ? row.id === `row-${open}` : new URL(link.href).pathname === location.pathname;
    row.classList.toggle("current", current || row.id === `row-${document.getElementById("card")?.dataset.row}`);
    if (row.classList.contains("current")) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  steps();
}

// The arrows of a phone, where card and queue are two pages.
function steps() {
  const items = [...document.querySelectorAll("#queue [data-item]:not([data-ended])")];
  const at = items.findIndex((item) => item.ariaCurrent);
  for (const link of document.querySelectorAll("[data-step]")) {
    const item = at < 0 ? null : items[at + Number(link.dataset.step)];
    link.hidden = !item;
    if (item) link.href = item.href;
  }
  document.getElementById("position").textContent = at < 0 ? "" : ` ${at + 1} of ${items.length}`;
}

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-pill]")) release();
  if (event.target.closest("[data-clear]")) select([]);
  const link = event.target.closest("#queue a[data-opens], #next-approval, [data-step]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  open(link.href, { focus: link.id === "next-approval" });
});
addEventListener("popstate", () => location.reload());

// The address keeps the search, so that it can be shared and survives a reload.
document.addEventListener("htmx:beforeRequest", ({ target }) => {
  if (!target.matches(".queue-filter")) return;
  const filled = [...new FormData(target)].filter(([, value]) => value);
  history.replaceState(history.state, "", `${location.pathname}?${new URLSearchParams(filled)}`);
});

document.addEventListener("htmx:beforeSwap", () => {
  for (const column of document.querySelectorAll("[data-keep-scroll]")) scrolled.set(column.id, column.scrollTop);
});

document.addEventListener("htmx:afterSettle", (event) => {
  for (const column of document.querySelectorAll("[data-keep-scroll]")) column.scrollTop = scrolled.get(column.id) ?? 0;
  if (["card", "column-card"].includes(event.target.id)) {
    const config = event.detail.requestConfig;
    if (config?.verb === "post") (document.getElementById("next-approval") ?? document.getElementById("card-title"))?.focus();
    ticked();
  }
  title();
});

function title() {
  const waits = document.getElementById("pending-count")?.dataset.count;
  const bare = document.title.replace(/^\(\d+\) /, "");
  document.title = Number(waits) ? `(${waits}) ${bare}` : bare;
}

// --- ticks: rows of the queue, and calls of one shape on their card ---

function select(chosen) {
  for (const check of checks()) check.checked = chosen.includes(check);
  show();
}

function show() {
  const bar = document.getElementById("batch");
  if (!bar) return;
  const chosen = checks().filter((check) => check.checked);
  bar.querySelector("[data-chosen]").textContent = chosen.reduce((sum, check) => sum + Number(check.closest(".queue-card").dataset.calls), 0);
  if (!chosen.length) release();
}

function ticked() {
  const card = document.querySelector("#card:is([data-alike], [data-run])");
  if (!card) return;
  const number = card.querySelectorAll(":is([name=selected], [name=patterns], [name=others]):checked").length;
  for (const place of card.querySelectorAll("[data-ticked]")) place.textContent = number;
  for (const button of card.querySelectorAll("[data-alike] [data-decides], [data-run] .approve")) button.disabled = !number;
}

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-all]")) {
    for (const check of document.querySelectorAll("#card :is([name=selected], .held [name=patterns])")) check.checked = event.target.checked;
  }
  if (event.target.closest("#card")) ticked();
  else if (event.target.name === "selected") show();
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !document.querySelector(":popover-open") && checks().some((check) => check.checked)) select([]);
  const card = document.activeElement?.closest(".queue-card, .held") ?? document.querySelector(".queue-card.current");
  const check = card?.querySelector("[name=selected], [name=patterns]");
  if (event.key.toLowerCase() !== "x" || event.repeat || !check || event.ctrlKey || event.metaKey || event.altKey) return;
  if (document.activeElement.matches("textarea, input:not([type=checkbox], [type=radio])")) return;
  const all = checks();
  const range = event.shiftKey && last ? [all.indexOf(last), all.indexOf(check)].sort((a, b) => a - b) : null;
  if (range) for (const other of all.slice(range[0], range[1] + 1)) other.checked = true;
  else check.checked = !check.checked;
  if (card.matches(".held")) return ticked();
  last = check;
  show();
});

if (queue()) ticked();
export { open };
