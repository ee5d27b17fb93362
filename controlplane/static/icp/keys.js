// Keys. An element says which key it answers with data-key; the places of the rail with data-go.
// Never while typing, with a modifier held, during composition, or when single keys are turned off.

const ARMED_FOR = 3000;
const ARMED_AFTER = 400; // a second press sooner than that is the same movement of the finger
const GO_WITHIN = 1500;
const QUIET = 400; // a press meant for the card that was just replaced
let goUntil = 0;
let quietUntil = 0;

const setting = (name) => localStorage.getItem(`icp-${name}`) !== "off"; // of this device
const openPopover = () => document.querySelector(".dialog:popover-open");

function typing(target) {
  return target.closest("textarea, select, [contenteditable], input:not([type=checkbox], [type=radio])");
}

function find(key) {
  const within = openPopover() ?? document;
  const found = [...within.querySelectorAll(`[data-key="${CSS.escape(key)}"]`)];
  return found.find((element) => !element.disabled && !element.hidden && element.checkVisibility());
}

// Where an approval cannot be undone the first press arms the button and only the second presses it.
function armed(button) {
  if (!("arm" in button.dataset)) return true;
  if ("armed" in button.dataset) return performance.now() - Number(button.dataset.armed) > ARMED_AFTER;
  const label = button.querySelector(".label");
  const words = label.innerHTML;
  button.dataset.armed = performance.now();
  label.textContent = "Press A again";
  setTimeout(() => {
    delete button.dataset.armed;
    label.innerHTML = words;
  }, ARMED_FOR);
  return false;
}

function press(key) {
  const element = find(key) ?? document.querySelector(`[data-else="${CSS.escape(key)}"]`);
  if (!element || ("decides" in element.dataset && performance.now() < quietUntil)) return false;
  if (element.matches("textarea, input[type=text], input[type=search]")) element.focus();
  else if (armed(element)) element.click();
  return true;
}

// J and K walk over what is still to be decided; from a receipt J is its link to the next one.
function move(step) {
  const after = document.getElementById("next-approval");
  if (after && step > 0 && !document.activeElement.matches("[data-item]:not([data-ended])")) {
    after.click();
    return true;
  }
  const items = [...document.querySelectorAll("[data-item]:not([data-ended])")];
  if (!items.length) return false;
  const focused = items.indexOf(document.activeElement);
  const current = focused < 0 ? items.findIndex((item) => item.ariaCurrent) : focused;
  const next = items[Math.min(items.length - 1, Math.max(0, current + step))];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
  if ("opens" in next.dataset) next.click();
  return true;
}

function go(key) {
  goUntil = 0;
  const place = document.querySelector(`[data-go="${CSS.escape(key)}"]`);
  place?.click();
  return Boolean(place);
}

function handle(key) {
  if (performance.now() < goUntil) return go(key);
  if (key === "g") {
    goUntil = performance.now() + GO_WITHIN;
    return true;
  }
  if (key === "?") {
    document.getElementById("keys").togglePopover();
    return true;
  }
  if (!openPopover() && (key === "j" || key === "k")) return move(key === "j" ? 1 : -1);
  return press(key);
}

document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (typing(event.target)) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (!setting("single-keys")) return;
  // A key that is held down counts once: its repeats do nothing, but keep the browser from acting on them.
  if (event.repeat ? find(event.key.toLowerCase()) : handle(event.key.toLowerCase())) event.preventDefault();
});

function quiet() {
  quietUntil = performance.now() + QUIET;
}

document.addEventListener("htmx:afterSettle", (event) => {
  const pushed = event.detail.requestConfig?.triggeringEvent?.type.startsWith("icp:");
  if (pushed && event.target.id === "card") quiet();
});

for (const box of document.querySelectorAll("[data-setting]")) {
  box.checked = setting(box.dataset.setting);
  box.addEventListener("change", () => localStorage.setItem(`icp-${box.dataset.setting}`, box.checked ? "on" : "off"));
}
export { quiet, setting };
