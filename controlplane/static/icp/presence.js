// Who else has which card open. A page that is looked at says so over the push connection, and shows what the
// pages of others say; nothing is stored, and who falls silent is forgotten after a minute.

const AGAIN = 20_000;
const FORGOTTEN = 60_000;
const others = new Map(); // connection → {name, approval, at}
let told = "";

const shown = () => document.querySelector("#card[data-reviewable]")?.dataset.reviewable ?? "";

function tell(again = false) {
  const card = shown();
  const visible = document.visibilityState === "visible";
  if (card === told && !(again && card && visible)) return;
  if (card && !visible) return;
  if (document.querySelector("icp-live")?.say({ reviewing: card })) told = card;
}

function paint() {
  for (const [who, seen] of others) if (Date.now() - seen.at > FORGOTTEN) others.delete(who);
  for (const place of document.querySelectorAll("[data-reviewers]")) {
    const here = [...others.values()].filter((seen) => seen.approval === place.dataset.reviewers);
    const names = [...new Set(here.map((seen) => seen.name))].sort();
    if (place.dataset.shown === names.join("\n")) continue;
    place.dataset.shown = names.join("\n");
    place.replaceChildren(...names.flatMap((name) => mark(name, "brief" in place.dataset)));
  }
}

function mark(name, brief) {
  const initials = document.createElement("span");
  const words = document.createElement("span");
  const parts = name.split(/[\s.-]+/u).filter(Boolean);
  initials.className = "person";
  initials.ariaHidden = "true";
  initials.textContent = (parts.length > 1 ? parts[0][0] + parts[1][0] : name.slice(0, 2)).toUpperCase();
  initials.title = words.textContent = `${name} is reviewing`;
  if (brief) words.className = "visually-hidden";
  return [initials, words];
}

document.addEventListener("icp:reviewing", ({ detail }) => {
  if (detail.approval_id) others.set(detail.who, { name: detail.name, approval: detail.approval_id, at: Date.now() });
  else others.delete(detail.who);
  paint();
});
document.addEventListener("icp:live", () => {
  told = "";
  tell();
});
document.addEventListener("htmx:afterSettle", () => {
  tell();
  paint();
});
document.addEventListener("visibilitychange", () => tell(true));
setInterval(() => {
  tell(true);
  paint();
}, AGAIN);
