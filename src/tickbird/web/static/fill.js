// A form that is filled in while parts of it are drawn anew: a suggestion fills in the field that it is for, and what
// somebody types is not drawn over.
const typed = (part) => JSON.stringify([...part.querySelectorAll("input, select, textarea")].map((field) => [field.name, field.value]));
const asked = new WeakMap();

export function startFill() {
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (event.detail.target.id === "payload-inputs") asked.set(event.detail.xhr, typed(event.detail.target));
  });
  document.addEventListener("htmx:beforeSwap", (event) => {
    const part = event.detail.target;
    if (part.id !== "payload-inputs") return;
    if (part.contains(document.activeElement) || typed(part) !== asked.get(event.detail.xhr)) event.detail.shouldSwap = false;
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-fill]");
    const field = link && document.querySelector(link.dataset.fill);
    if (!field) return;
    event.preventDefault();
    field.value = link.dataset.text;
    field.focus();
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
}
