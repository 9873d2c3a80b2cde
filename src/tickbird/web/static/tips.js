// The words of a picture's marks, where one points at them or comes to them by keyboard. Without scripts the browser shows them.
const tip = document.createElement("div");
let shown = null;
// Where the pointer is; null while one goes by keyboard.
let pointer = null;

function show(mark) {
  hide();
  if (!mark) return;
  const title = mark.querySelector("title");
  if (!title?.textContent) return;
  shown = mark;
  tip.textContent = title.textContent;
  // The browser's own would come beside it: the words stay as the mark's name.
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
  // It says nothing that the mark's name does not.
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
  // What is drawn anew has its own words again; the mark that is there now may be another one.
  document.addEventListener("htmx:beforeSwap", () => { again = shown !== null; hide(); });
  document.addEventListener("htmx:afterSettle", () => {
    if (again) show(markOf(pointer ? document.elementFromPoint(pointer.x, pointer.y) : document.activeElement));
    again = false;
  });
}
