// Shows the number of selected rows next to the bulk actions, and enables these.
const form = () => document.querySelector("form[data-selection]");

function count() {
  const shown = form();
  if (!shown) return;
  const boxes = [...shown.querySelectorAll("input[name=name]")];
  const ticked = boxes.filter((box) => box.checked).length;
  const every = shown.querySelector("#every");
  const output = shown.querySelector("[data-selected]");
  if (output) output.textContent = every?.checked ? "" : ticked ? `${ticked} selected, or` : "";
  for (const button of shown.querySelectorAll("button[formaction]")) button.disabled = !ticked && !every?.checked;
  const whole = shown.querySelector("[data-all]");
  if (whole) {
    whole.checked = boxes.length > 0 && ticked === boxes.length;
    whole.indeterminate = ticked > 0 && ticked < boxes.length;
  }
}

export function startSelection() {
  document.addEventListener("change", count);
  document.addEventListener("selected", count);
  document.addEventListener("htmx:afterSettle", count);
  count();
}
