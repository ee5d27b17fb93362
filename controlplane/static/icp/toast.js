// Short news at the corner: at most three, six seconds each, kept while hovered or focused.
// One with a way back stays until whoever added it takes it away. The server sends one with the header HX-Trigger: {"icp:toast": {"text", "tone"}}.

const MOST = 3;
const STAYS = 6000;
const area = document.getElementById("toasts");

function keep(toast) {
  const leave = () => setTimeout(() => (toast.matches(":hover, :focus-within") ? leave() : toast.remove()), STAYS);
  leave();
}

function add(text, tone = "accent", undo = null) {
  const toast = document.createElement("div");
  const words = document.createElement("p");
  const icon = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", { allow: "#i-allow", ask: "#i-warning", deny: "#i-warning" }[tone] ?? "#i-info");
  icon.setAttribute("class", "icon");
  icon.setAttribute("aria-hidden", "true");
  icon.append(use);
  words.textContent = text;
  toast.className = "toast";
  toast.dataset.tone = tone;
  toast.append(icon, words);
  while (area.children.length >= MOST) area.firstElementChild.remove();
  area.append(toast);
  if (undo) toast.append(undoButton(undo));
  else keep(toast);
  return toast;
}

function undoButton(undo) {
  const button = document.createElement("button");
  button.className = "button button-small end";
  button.type = "button";
  button.dataset.key = "z";
  button.innerHTML = "Undo <kbd>Z</kbd>";
  button.addEventListener("click", undo);
  return button;
}

for (const toast of area.children) keep(toast);
document.body.addEventListener("icp:toast", (event) => add(event.detail.text, event.detail.tone));
document.body.addEventListener("icp:say", (event) => {
  document.getElementById("announcer").textContent = event.detail.text;
});
const failed = "The server did not answer. The gate still holds the call; try again.";
document.body.addEventListener("htmx:sendError", (event) => {
  if (!event.detail.requestConfig.triggeringEvent?.type.startsWith("icp:")) add(failed, "deny");
});
document.body.addEventListener("htmx:responseError", (event) => {
  const { status } = event.detail.xhr;
  if (event.detail.requestConfig.triggeringEvent?.type.startsWith("icp:")) return; // nobody asked for it
  add(status < 500 ? `The server refused this (${status}). Nothing was changed.` : failed, "deny");
});
export { add };
