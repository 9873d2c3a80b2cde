// Tooltips of chart symbols, on hover and keyboard focus. Without scripts, the browser shows the titles.
const tip = document.createElement("div");
let shown = null;
// The position of the pointer; null while the user navigates by keyboard.
let pointer = null;

function show(mark) {
  hide();
  if (!mark) return;
  const title = mark.querySelector("title");
  if (!title?.textContent) return;
  shown = mark;
  tip.textContent = title.textContent;
  // Removes the title, so that the browser shows no second tooltip. The aria-label keeps the text.
  mark.setAttribute("aria-label", title.textContent);
  title.textContent = "";
  tip.hidden = false;
  const box = mark.getBoundingClientRect();
  const middle = box.width > 60 && pointer ? pointer.x : box.left + box.width / 2;
  const left = Math.max(8, Math.min(middle - tip.offsetWidth / 2, innerWidth - tip.offsetWidth - 8));
  const above = box.top - tip.offsetHeight - 6;
  tip.style.left = `${left}px`;
  tip.style.top = `${above < 8 ? box.bottom + 6 : above}px`;
}

function hide() {
  if (!shown) return;
  const title = shown.querySelector("title");
  if (title && !title.textContent) title.textContent = shown.getAttribute("aria-label");
  shown.removeAttribute("aria-label");
  shown = null;
  tip.hidden = true;
}

let again = false;
const markOf = (node) => node?.closest?.(".pic-mark, .spark a");

export function startTips() {
  tip.id = "tip";
  tip.hidden = true;
  // Hidden from screen readers, because the aria-label of the symbol has the same text.
  tip.setAttribute("aria-hidden", "true");
  document.body.append(tip);
  document.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch") return;
    pointer = { x: event.clientX, y: event.clientY };
    const mark = markOf(event.target);
    if (mark !== shown) show(mark);
  });
  document.addEventListener("focusin", (event) => {
    if (!event.target.matches(":focus-visible")) return;
    pointer = null;
    show(markOf(event.target));
  });
  document.addEventListener("focusout", hide);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  addEventListener("scroll", hide, true);
  // A swap replaces the chart. Show the tooltip of the new symbol at the same position.
  document.addEventListener("htmx:beforeSwap", () => { again = shown !== null; hide(); });
  document.addEventListener("htmx:afterSettle", () => {
    if (again) show(markOf(pointer ? document.elementFromPoint(pointer.x, pointer.y) : document.activeElement));
    again = false;
  });
}
