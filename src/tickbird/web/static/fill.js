// A click on a suggestion fills in its field.
export function startFill() {
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
