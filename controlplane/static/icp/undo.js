// A decision waits five seconds before it is sent, so that it can be undone before the agent hears of it; meanwhile
// the next card opens. Leaving the page sends it at once. Without script, or with the setting off, it is sent directly.

import { add } from "./toast.js";
import { quiet, setting } from "./keys.js";
import { open } from "./queue.js";

const WAIT = 5000;
const SOON = 15_000; // an approval that ends sooner is decided at once
const waiting = new Set();

function hold(form, button) {
  const card = form.closest("#card");
  const row = card && document.querySelector(`[id="row-${card.dataset.row ?? card.dataset.alike}"] [data-item]`);
  const body = new FormData(form, button);
  const next = card && !("alike" in card.dataset) ? following(row) : null;
  const decision = { form, body, row, card, address: location.href, buttons: [...form.querySelectorAll("[data-decides]:enabled")] };
  const approves = body.get("action") === "approve";
  decision.toast = add(`${approves ? "Approved" : "Rejected"} in 5 s: ${subject(card)}`, approves ? "allow" : "ask", () => undo(decision));
  decision.timer = setTimeout(() => send(decision), WAIT);
  waiting.add(decision);
  for (const other of decision.buttons) other.disabled = true;
  form.matches(":popover-open") && form.hidePopover();
  if (next) {
    row.setAttribute("data-ended", "");
    quiet();
    open(next.href, { focus: true });
  }
}

const subject = (card) => card?.querySelector("#card-title").innerText.replace(/\s+/g, " ").trim() ?? document.querySelector("#batch b").innerText;

function following(row) {
  const items = [...document.querySelectorAll("#queue [data-item]:not([data-ended])")];
  return items[items.indexOf(row) + 1] ?? items.find((item) => item !== row) ?? null;
}

function finish(decision) {
  clearTimeout(decision.timer);
  decision.toast.remove();
  return waiting.delete(decision);
}

function undo(decision) {
  if (!finish(decision)) return;
  decision.row?.removeAttribute("data-ended");
  for (const button of decision.buttons) button.disabled = false;
  if (!decision.form.isConnected) open(decision.address, { focus: true });
  else decision.card?.querySelector("#card-title").focus();
}

async function send(decision) {
  if (!finish(decision)) return;
  const { form, body, row } = decision;
  const sent = fetch(form.getAttribute("action"), { method: "POST", body, headers: { "HX-Request": "true" }, keepalive: true });
  const answer = await sent.then((response) => (response.ok ? response.text() : null), () => null);
  const card = new DOMParser().parseFromString(answer ?? "", "text/html");
  if (form.isConnected) show(decision, answer);
  const problem = answer === null ? "The server did not take it; the call is still held." : card.querySelector("[data-refusal]")?.innerText.trim();
  if (problem) row?.removeAttribute("data-ended");
  if (problem) add(`${decision.toast.innerText.split("\n")[0]}. ${problem}`, "deny");
  else document.body.dispatchEvent(new CustomEvent("icp:approval", { bubbles: true }));
}

// The receipt, where nothing else has been opened.
function show({ form, buttons }, answer) {
  for (const button of buttons) button.disabled = false;
  if (answer === null) return;
  htmx.swap(form.getAttribute("hx-target"), answer, { swapStyle: form.getAttribute("hx-swap").split(" ")[0] });
  (document.getElementById("next-approval") ?? document.getElementById("card-title"))?.focus();
}

document.addEventListener("htmx:confirm", (event) => {
  const { elt: form, triggeringEvent } = event.detail;
  if (!form.matches("form[data-undoable]") || !setting("undo")) return;
  const ends = [...document.querySelectorAll("#card icp-countdown")].map((clock) => Date.parse(clock.dataset.until));
  if (Math.min(...ends) - Date.now() < SOON) return;
  event.preventDefault();
  hold(form, triggeringEvent?.submitter);
});
addEventListener("pagehide", () => waiting.forEach(send));
