// What pages do beyond links and forms. Every page works without it.
import { startLive } from "./live.js";
import { startKeys } from "./keys.js";
import { startSelection } from "./selection.js";
import { startFill } from "./fill.js";
import { startLog } from "./log.js";
import { startDraft } from "./draft.js";
import { startTips } from "./tips.js";
import { startRefused } from "./form_errors.js";
import { dropOrphans, isBusy, startTyping } from "./keep_input.js";

const root = document.documentElement;

// Forms that a script sends carry what proves that a page of ours did.
document.addEventListener("htmx:configRequest", (event) => {
  event.detail.headers["X-CSRF"] = document.querySelector("meta[name=csrf]").content;
});

// Light or dark: as the system says, until one has chosen.
const themes = [...document.querySelectorAll("[data-theme-choice]")];
function theme(chosen) {
  if (chosen) root.dataset.theme = chosen; else delete root.dataset.theme;
  if (chosen) localStorage.setItem("tickbird-theme", chosen); else localStorage.removeItem("tickbird-theme");
  for (const each of themes) each.checked = each.value === chosen;
}
for (const each of themes) {
  each.checked = each.value === (root.dataset.theme ?? "");
  each.addEventListener("change", () => theme(each.value));
}
document.querySelector("[data-theme-switch]")?.addEventListener("click", () => {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  theme(dark ? "light" : "dark");
});

// A choice that needs no button. The browser's own zone goes along with the choice of zones.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const mine = document.querySelector("#zone option[value=mine]");
if (mine && zone) mine.textContent = `my zone (${zone})`;
for (const button of zone ? document.querySelectorAll("[data-browser-zone]") : []) {
  button.hidden = false;
  button.textContent = `Use ${zone}, the browser’s`;
  button.addEventListener("click", () => { document.getElementById(button.dataset.browserZone).value = zone; });
}
document.addEventListener("change", (event) => {
  if (!event.target.matches("[data-submit]")) return;
  const form = event.target.form;
  if (event.target.id === "zone" && zone) {
    const field = document.createElement("input");
    Object.assign(field, { type: "hidden", name: "mine", value: zone });
    form.append(field);
  }
  form.requestSubmit();
});

// Copy as CLI.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const said = button.textContent;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Select the text and copy it";
  }
  setTimeout(() => { button.textContent = said; }, 1500);
});

// Forms of actions come in a dialog; where that fails, their link leads to a page that has the same form.
const dialog = document.getElementById("dialog");
document.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.target.id !== "dialog-body" || dialog.open) return;
  dialog.showModal();
  dialog.querySelector("[autofocus], input:not([type=hidden]), select, textarea, button")?.focus();
});
// A closed form is gone: a response to it must not land in the next form that the dialog shows.
dialog.addEventListener("close", () => { document.getElementById("dialog-body").replaceChildren(); dropOrphans(); });
// A form that comes back refused says why where one is.
document.addEventListener("htmx:afterSettle", (event) => {
  const form = event.detail.elt;
  // A user who works in a field stays there: the next keys are meant for it.
  if (form.id !== "form" || isBusy(event.detail.xhr)) return;
  const first = ["[aria-invalid=true]", "[role=alert]", "#plan", ".primary"].map((each) => form.querySelector(each));
  first.find((each) => each)?.focus();
});
// What is written beside a choice chooses it.
document.addEventListener("input", (event) => {
  const choice = event.target.dataset?.picks && document.getElementById(event.target.dataset.picks);
  if (choice) choice.checked = true;
});
// A click beside it closes it; text that is marked from within to beyond its edge does not.
const beside = (event) => {
  const box = dialog.getBoundingClientRect();
  return event.target === dialog && !(event.clientX >= box.left && event.clientX <= box.right && event.clientY >= box.top && event.clientY <= box.bottom);
};
let pressedBeside = false;
document.addEventListener("pointerdown", (event) => { pressedBeside = beside(event); });
document.addEventListener("click", (event) => {
  if ((pressedBeside && beside(event)) || event.target.closest("[data-close]")) {
    const open = event.target.closest("dialog");
    if (open) { event.preventDefault(); open.close(); }
  }
});
document.addEventListener("htmx:responseError", (event) => {
  const opener = event.detail.elt.closest("[data-dialog]");
  if (opener) location.assign(opener.href);
});

// A button that is pressed twice sends its form once.
const sent = new WeakMap();
const TWICE = 2000;
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post") return;
  const before = sent.get(form);
  const again = before && before.by === event.submitter && performance.now() - before.at < TWICE;
  if (again) { event.preventDefault(); event.stopImmediatePropagation(); return; }
  sent.set(form, { by: event.submitter, at: performance.now() });
  // What follows the typing has nobody left to tell: its answer would come to a form that is gone.
  const follows = form.querySelector("#cli");
  if (follows) htmx.trigger(follows, "htmx:abort");
}, true);
document.addEventListener("htmx:beforeRequest", (event) => {
  const { elt } = event.detail;
  if (elt.matches("#cli, a") && sent.has(elt.closest("form"))) event.preventDefault();
});
// An answer that leaves the form where it is lets it be sent again.
document.addEventListener("htmx:afterRequest", (event) => { sent.delete(event.detail.elt); });

// All of a list at once.
document.addEventListener("change", (event) => {
  if (!event.target.matches("[data-all]")) return;
  for (const box of document.querySelectorAll(event.target.dataset.all)) box.checked = event.target.checked;
  document.dispatchEvent(new Event("selected"));
});

// What is kept through a redraw: opened parts, and what one has ticked or written.
if (window.Idiomorph) {
  const keep = new Set(["open", "checked", "selected", "value"]);
  Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, node) =>
    !(keep.has(name) && node.matches("details, dialog, input, select, textarea, option"));
  Idiomorph.defaults.ignoreActiveValue = true;
}

// Where the menu is wider than the window, the place that one is in can be seen.
const places = document.querySelector("header nav");
const here = places?.querySelector("[aria-current]");
if (here) places.scrollLeft = here.offsetLeft + here.offsetWidth - places.offsetLeft - places.clientWidth + 12;

// A picture that is wider than the window begins around now, and its names stay in sight.
const frames = () => [...document.querySelectorAll(".picture")].filter((frame) => frame.scrollWidth > frame.clientWidth);
function stick(frame) {
  const drawing = frame.querySelector("svg");
  const scale = drawing.viewBox.baseVal.width / drawing.getBoundingClientRect().width;
  for (const name of frame.querySelectorAll(".pic-name")) name.setAttribute("transform", `translate(${frame.scrollLeft * scale} 0)`);
}
document.addEventListener("scroll", (event) => { if (event.target.matches?.(".picture")) stick(event.target); }, true);
document.addEventListener("htmx:afterSettle", () => frames().forEach(stick));
for (const frame of frames()) {
  const line = frame.querySelector(".pic-now-line");
  if (line) frame.scrollLeft = line.getBoundingClientRect().left - frame.getBoundingClientRect().left - frame.clientWidth * 0.6;
}

startLive();
startTyping();
startTips();
startKeys();
startSelection();
startFill();
startDraft();
startRefused();
startLog();
