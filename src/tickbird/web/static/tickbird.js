// The scripts of all pages. Every page also works without them.
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

// Requests by htmx carry the CSRF token.
document.addEventListener("htmx:configRequest", (event) => {
  event.detail.headers["X-CSRF"] = document.querySelector("meta[name=csrf]").content;
});

// The theme: the system's theme until the user chooses one.
const themes = [...document.querySelectorAll("[data-theme-choice]")];
function theme(chosen) {
  if (chosen) root.dataset.theme = chosen; else delete root.dataset.theme;
  if (chosen) localStorage.setItem("tickbird-theme", chosen); else localStorage.removeItem("tickbird-theme");
  for (const choice of themes) choice.checked = choice.value === chosen;
}
for (const choice of themes) {
  choice.checked = choice.value === (root.dataset.theme ?? "");
  choice.addEventListener("change", () => theme(choice.value));
}
document.querySelector("[data-theme-switch]")?.addEventListener("click", () => {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  theme(dark ? "light" : "dark");
});

// Selects that submit their form on change. The time zone of the browser is sent with the choice of time zone.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const mine = document.querySelector("#zone option[value=mine]");
if (mine && zone) mine.textContent = `my time zone (${zone})`;
for (const button of zone ? document.querySelectorAll("[data-browser-zone]") : []) {
  button.hidden = false;
  button.textContent = `Use ${zone} (this browser)`;
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

// Buttons that copy a text.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const text = button.textContent;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Select the text and copy it";
  }
  setTimeout(() => { button.textContent = text; }, 1500);
});

// Forms of actions open in a dialog. If that fails, the link opens the page with the same form.
const dialog = document.getElementById("dialog");
document.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.target.id !== "dialog-body" || dialog.open) return;
  dialog.showModal();
  dialog.querySelector("[autofocus], input:not([type=hidden]), select, textarea, button")?.focus();
});
// A response to a closed form must not appear in the next form that the dialog shows.
dialog.addEventListener("close", () => { document.getElementById("dialog-body").replaceChildren(); dropOrphans(); });
// Focus the first error of a form that was refused.
document.addEventListener("htmx:afterSettle", (event) => {
  const form = event.detail.elt;
  // A user who works in a field keeps the focus.
  if (form.id !== "form" || isBusy(event.detail.xhr)) return;
  const first = ["[aria-invalid=true]", "[role=alert]", "#plan", ".primary"].map((selector) => form.querySelector(selector));
  first.find((element) => element)?.focus();
});
// Input into the field of a choice selects this choice.
document.addEventListener("input", (event) => {
  const choice = event.target.dataset?.picks && document.getElementById(event.target.dataset.picks);
  if (choice) choice.checked = true;
});
// A click outside of the dialog closes it. Selecting text from inside to outside does not.
const isOutside = (event) => {
  const box = dialog.getBoundingClientRect();
  return event.target === dialog && !(event.clientX >= box.left && event.clientX <= box.right && event.clientY >= box.top && event.clientY <= box.bottom);
};
let pressedOutside = false;
document.addEventListener("pointerdown", (event) => { pressedOutside = isOutside(event); });
document.addEventListener("click", (event) => {
  if ((pressedOutside && isOutside(event)) || event.target.closest("[data-close]")) {
    const open = event.target.closest("dialog");
    if (open) { event.preventDefault(); open.close(); }
  }
});
document.addEventListener("htmx:responseError", (event) => {
  const opener = event.detail.elt.closest("[data-dialog]");
  if (opener) location.assign(opener.href);
});

// A double click sends a form once.
const sent = new WeakMap();
const DOUBLE_CLICK_MS = 2000;
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post") return;
  const before = sent.get(form);
  const again = before && before.by === event.submitter && performance.now() - before.at < DOUBLE_CLICK_MS;
  if (again) { event.preventDefault(); event.stopImmediatePropagation(); return; }
  sent.set(form, { by: event.submitter, at: performance.now() });
  // Abort the update of the command line: its response would arrive after the form is gone.
  const follows = form.querySelector("#cli");
  if (follows) htmx.trigger(follows, "htmx:abort");
}, true);
document.addEventListener("htmx:beforeRequest", (event) => {
  const { elt } = event.detail;
  if (elt.matches("#cli, a") && sent.has(elt.closest("form"))) event.preventDefault();
});
// After a response that keeps the form, it can be sent again.
document.addEventListener("htmx:afterRequest", (event) => { sent.delete(event.detail.elt); });

// The checkbox that selects all rows.
document.addEventListener("change", (event) => {
  if (!event.target.matches("[data-all]")) return;
  for (const box of document.querySelectorAll(event.target.dataset.all)) box.checked = event.target.checked;
  document.dispatchEvent(new Event("selected"));
});

// A live update keeps open <details>, checked boxes and input.
if (window.Idiomorph) {
  const keep = new Set(["open", "checked", "selected", "value"]);
  Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, node) =>
    !(keep.has(name) && node.matches("details, dialog, input, select, textarea, option"));
  Idiomorph.defaults.ignoreActiveValue = true;
}

// If the menu is wider than the window, scroll to the current page.
const menu = document.querySelector("header nav");
const here = menu?.querySelector("[aria-current]");
if (here) menu.scrollLeft = here.offsetLeft + here.offsetWidth - menu.offsetLeft - menu.clientWidth + 12;

// If a chart is wider than the window, scroll it to the present and keep its row names visible.
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
