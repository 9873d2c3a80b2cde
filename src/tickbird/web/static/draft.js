// Stores the input of a form in this tab until the server responds, so that an expired session loses nothing.
import { apply, changesSince, isChanged, snapshot } from "./keep_input.js";

const KEY = "tickbird-draft";
// Input that was typed after a form was sent, while the next page was loading.
const LATE = "tickbird-late";
const pathOf = (form) => new URL(form.action).pathname;
const INPUTS = "input:not([type=hidden]), textarea, select";

function store(form) {
  const fields = [...new FormData(form)].filter(([name]) => name !== "csrf");
  // Input that exceeds the storage quota is sent anyway.
  try { sessionStorage.setItem(KEY, JSON.stringify({ path: pathOf(form), fields })); } catch { sessionStorage.removeItem(KEY); }
}

// Restores the revision too, so that the server detects changes by other users.
function fillIn(form, fields) {
  for (const field of form.elements) {
    const values = fields.filter(([name]) => name === field.name).map(([, value]) => value);
    // Newer input stays.
    if (field.name === "csrf" || (field.matches(INPUTS) && isChanged(field))) continue;
    if (field.type === "checkbox" || field.type === "radio") field.checked = values.includes(field.value);
    else if (field.type !== "submit" && values.length) field.value = values[0];
  }
  form.querySelector(INPUTS)?.dispatchEvent(new Event("change", { bubbles: true }));
}

// Forms with user input: not those of the header.
const isWritten = (form) => form.method === "post" && !form.closest("header") && (form.matches("[data-draft]") || form.querySelector(INPUTS));
const formAt = (path) => [...document.forms].find((form) => isWritten(form) && pathOf(form) === path);

// Restores the input on the page of the form, or in the dialog that its button opens.
function restore({ path, fields }) {
  const form = formAt(path);
  if (form) { fillIn(form, fields); return; }
  const opener = [...document.querySelectorAll("a[data-dialog]")].find((link) => new URL(link.href).pathname === path);
  if (!opener) return;
  // Other parts of the page may settle before the dialog does.
  document.addEventListener("htmx:afterSettle", function fill() {
    const opened = formAt(path);
    if (!opened) return;
    document.removeEventListener("htmx:afterSettle", fill);
    fillIn(opened, fields);
  });
  opener.click();
}

// The response page of a form shows the sent values. Newer input is written over them.
function startLate() {
  const late = JSON.parse(sessionStorage.getItem(LATE) ?? "null");
  sessionStorage.removeItem(LATE);
  if (late) window.addEventListener("load", () => {
    for (const form of [...document.forms].filter((form) => pathOf(form) === late.path)) {
      // Input on this page is newer.
      const changes = new Map(late.changes.filter(([key]) => !changesSince(new Map(), form).has(key)));
      apply(changes, form)[0]?.dispatchEvent(new Event("change", { bubbles: true }));
    }
  });
  let sent = null;
  document.addEventListener("submit", (event) => {
    const form = event.target;
    // htmx does not leave the page. A submitter with a formaction, such as a download, does not respond with the form.
    if (!event.defaultPrevented && !event.submitter?.hasAttribute("formaction")) sent = { form, before: snapshot(form) };
  });
  addEventListener("pagehide", () => {
    const changes = sent ? [...changesSince(sent.before, sent.form)] : [];
    if (!changes.length) return;
    if (isWritten(sent.form)) store(sent.form);
    try { sessionStorage.setItem(LATE, JSON.stringify({ path: pathOf(sent.form), changes })); } catch { sessionStorage.removeItem(LATE); }
  });
}

export function startDraft() {
  const stored = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
  sessionStorage.removeItem(KEY);
  startLate();
  // A response to the form already has the input. On any other page, the form was never processed.
  if (stored && !("answers" in document.body.dataset)) window.addEventListener("load", () => restore(stored));
  document.addEventListener("submit", (event) => { if (isWritten(event.target)) store(event.target); });
  // Also before the form is sent: any request of the page can redirect to the login.
  document.addEventListener("htmx:beforeOnLoad", (event) => {
    // The response has the input, also if it reports errors.
    const { elt, xhr } = event.detail;
    if (elt.matches("form") && (xhr.status < 300 || [409, 412, 422].includes(xhr.status))) sessionStorage.removeItem(KEY);
    const form = event.detail.xhr.status === 401 && (document.querySelector("dialog[open] form[action]") ?? [...document.forms].find(isWritten));
    if (form && isWritten(form)) store(form);
  });
}
