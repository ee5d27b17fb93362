// Copy buttons: data-copy is a selector of the element whose text is copied. Hidden until this runs,
// since without script they could do nothing.

async function copy(button) {
  const text = document.querySelector(button.dataset.copy).textContent.trim();
  await navigator.clipboard.writeText(text);
  const label = button.querySelector(".label");
  const words = label.textContent;
  label.textContent = "Copied";
  setTimeout(() => (label.textContent = words), 2000);
}

function reveal() {
  for (const button of document.querySelectorAll("[data-copy]")) button.hidden = false;
}

reveal();
document.addEventListener("htmx:afterSettle", reveal);
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) copy(button);
});
