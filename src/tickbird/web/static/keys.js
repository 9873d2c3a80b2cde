// The keyboard: search, rows, places, and the marks of a picture.
const rows = () => [...document.querySelectorAll("[data-row]")];
const places = { n: "Now", s: "Schedules", r: "Runs", l: "Load", w: "Workers", a: "Audit" };
let going = false;
const menu = (label) => [...document.querySelectorAll("header nav a")].find((each) => each.textContent === label);

function move(step) {
  const all = rows();
  if (!all.length) return;
  const at = all.findIndex((row) => row.contains(document.activeElement));
  const next = all[Math.min(all.length - 1, Math.max(0, at + step))];
  (next.querySelector("a[href]") ?? next).focus();
  next.scrollIntoView({ block: "nearest" });
}

function withinPicture(event) {
  const picture = event.target.closest?.(".picture");
  if (!picture) return false;
  const marks = [...picture.querySelectorAll("a[href], [tabindex='0'], [tabindex='-1']")];
  if (!marks.length) return false;
  const at = marks.indexOf(document.activeElement);
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return false;
  marks[(at + step + marks.length) % marks.length].focus();
  return true;
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (withinPicture(event)) { event.preventDefault(); return; }
  if (event.target.matches?.("input, textarea, select") || document.querySelector("dialog[open]")) return;
  const key = event.key;
  if (going) {
    going = false;
    if (places[key]) menu(places[key])?.click();
    return;
  }
  if (key === "/") {
    const field = document.querySelector("[data-search]");
    event.preventDefault();
    if (field) { field.focus(); field.select?.(); } else location.assign(`${menu("Schedules").href}#search`);
  } else if (key === "j") move(1);
  else if (key === "k") move(-1);
  else if (key === "x") document.activeElement?.closest("[data-row]")?.querySelector("input[type=checkbox]")?.click();
  else if (key === "?") document.getElementById("keys").showModal();
  else if (key === "g") { going = true; setTimeout(() => { going = false; }, 1500); }
}

export function startKeys() {
  document.addEventListener("keydown", onKey);
  document.querySelector("[data-help]")?.addEventListener("click", () => document.getElementById("keys").showModal());
  if (location.hash === "#search") document.querySelector("[data-search]")?.focus();
}
