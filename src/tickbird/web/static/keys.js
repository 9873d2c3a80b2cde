// Keyboard shortcuts: search, rows, pages, and the symbols of a chart.
const rows = () => [...document.querySelectorAll("[data-row]")];
const pages = { n: "Now", s: "Schedules", r: "Runs", l: "Load", e: "Events", w: "Workers", a: "Audit", t: "Settings" };
let going = false;
const menu = (label) => [...document.querySelectorAll("header nav a")].find((link) => link.textContent === label);

function move(step) {
  const all = rows();
  if (!all.length) return;
  const at = all.findIndex((row) => row.contains(document.activeElement));
  const next = all[Math.min(all.length - 1, Math.max(0, at + step))];
  (next.querySelector("a[href]") ?? next).focus();
  next.scrollIntoView({ block: "nearest" });
}

// The Tab key stops once per chart: at the symbol visited last, or at the first.
const marksOf = (picture) => [...picture.querySelectorAll("a[href], g[tabindex]")];

function oneStop(picture) {
  const marks = marksOf(picture);
  const stop = marks.find((mark) => mark === document.activeElement) ?? marks.find((mark) => mark.matches("[data-stop]")) ?? marks[0];
  for (const mark of marks) {
    mark.setAttribute("tabindex", mark === stop ? "0" : "-1");
    mark.toggleAttribute("data-stop", mark === stop);
  }
}

function stops() {
  for (const picture of document.querySelectorAll(".picture")) oneStop(picture);
}

function withinPicture(event) {
  const picture = event.target.closest?.(".picture");
  const marks = picture ? marksOf(picture) : [];
  if (!marks.length) return false;
  const last = marks.length - 1;
  const at = marks.indexOf(document.activeElement);
  const next = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: last }[event.key];
  if (next === undefined) return false;
  marks[Math.min(last, Math.max(0, next))].focus();
  oneStop(picture);
  document.activeElement.scrollIntoView({ block: "nearest", inline: "nearest" });
  return true;
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (withinPicture(event)) { event.preventDefault(); return; }
  if (event.target.matches?.("input, textarea, select") || document.querySelector("dialog[open]")) return;
  const key = event.key;
  if (going) {
    going = false;
    if (pages[key]) menu(pages[key])?.click();
    return;
  }
  if (key === "/") {
    const field = document.querySelector("[data-search]");
    event.preventDefault();
    // A field inside of a closed <details> cannot get the focus.
    const folded = field?.closest("details:not([open])");
    if (folded) folded.open = true;
    if (field) { field.focus(); field.select?.(); } else location.assign(`${menu("Schedules").href}#search`);
  } else if (key === "j") move(1);
  else if (key === "k") move(-1);
  else if (key === "x") document.activeElement?.closest("[data-row]")?.querySelector("input[type=checkbox]")?.click();
  else if (key === "?") document.getElementById("keys").showModal();
  else if (key === "g") { going = true; setTimeout(() => { going = false; }, 1500); }
}

export function startKeys() {
  document.addEventListener("keydown", onKey);
  document.querySelector("[data-help]")?.addEventListener("click", (event) => {
    event.preventDefault();
    document.getElementById("keys").showModal();
  });
  stops();
  document.addEventListener("htmx:afterSettle", stops);
  if (location.hash === "#search") document.querySelector("[data-search]")?.focus();
}
