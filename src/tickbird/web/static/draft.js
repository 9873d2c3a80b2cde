// What was written into a form is kept in this tab until it is answered: a session that has ended loses none of it.
import { apply, changesSince, isChanged, snapshot } from "./keep_input.js";

const KEY = "tickbird-draft";
// Input that was typed after a form was sent, while the next page was on its way.
const LATE = "tickbird-late";
const pathOf = (form) => new URL(form.action).pathname;
const written = "input:not([type=hidden]), textarea, select";

function keep(form) {
  const fields = [...new FormData(form)].filter(([name]) => name !== "csrf");
  // More than a tab can keep is sent all the same.
  try { sessionStorage.setItem(KEY, JSON.stringify({ path: pathOf(form), fields })); } catch { sessionStorage.removeItem(KEY); }
}

// With the revision that it was written for: what somebody else has changed since is shown as ever.
function fillIn(form, fields) {
  for (const field of form.elements) {
    const values = fields.filter(([name]) => name === field.name).map(([, value]) => value);
    // Newer input stays.
    if (field.name === "csrf" || (field.matches(written) && isChanged(field))) continue;
    if (field.type === "checkbox" || field.type === "radio") field.checked = values.includes(field.value);
    else if (field.type !== "submit" && values.length) field.value = values[0];
  }
  form.querySelector(written)?.dispatchEvent(new Event("change", { bubbles: true }));
}

// Forms that somebody writes into: not those of the menu.
const isWritten = (form) => form.method === "post" && !form.closest("header") && (form.matches("[data-draft]") || form.querySelector(written));
const formAt = (path) => [...document.forms].find((each) => isWritten(each) && pathOf(each) === path);

// On its own page, or in the dialog that its button opens.
function bringBack({ path, fields }) {
  const form = formAt(path);
  if (form) { fillIn(form, fields); return; }
  const opener = [...document.querySelectorAll("a[data-dialog]")].find((each) => new URL(each.href).pathname === path);
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

// The page that answers a form has its fields as they were sent. Input that is newer than that is written into them.
function startLate() {
  const late = JSON.parse(sessionStorage.getItem(LATE) ?? "null");
  sessionStorage.removeItem(LATE);
  if (late) window.addEventListener("load", () => {
    for (const form of [...document.forms].filter((each) => pathOf(each) === late.path)) {
      // Input into this page is newer still.
      const changes = new Map(late.changes.filter(([key]) => !changesSince(new Map(), form).has(key)));
      apply(changes, form)[0]?.dispatchEvent(new Event("change", { bubbles: true }));
    }
  });
  let sent = null;
  document.addEventListener("submit", (event) => {
    const form = event.target;
    // htmx sends it without leaving the page; another address, such as that of a download, does not answer with the form.
    if (!event.defaultPrevented && !event.submitter?.hasAttribute("formaction")) sent = { form, before: snapshot(form) };
  });
  addEventListener("pagehide", () => {
    const changes = sent ? [...changesSince(sent.before, sent.form)] : [];
    if (!changes.length) return;
    if (isWritten(sent.form)) keep(sent.form);
    try { sessionStorage.setItem(LATE, JSON.stringify({ path: pathOf(sent.form), changes })); } catch { sessionStorage.removeItem(LATE); }
  });
}

export function startDraft() {
  const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
  sessionStorage.removeItem(KEY);
  startLate();
  // An answer to the form has in it what was written; whoever comes to the form anew does so since there was none.
  if (kept && !("answers" in document.body.dataset)) window.addEventListener("load", () => bringBack(kept));
  document.addEventListener("submit", (event) => { if (isWritten(event.target)) keep(event.target); });
  // Also while one still writes: whatever the page asks for leads to the log-in then.
  document.addEventListener("htmx:beforeOnLoad", (event) => {
    // What was answered, be it by a refusal, stands in the answer.
    const { elt, xhr } = event.detail;
    if (elt.matches("form") && (xhr.status < 300 || [409, 412, 422].includes(xhr.status))) sessionStorage.removeItem(KEY);
    const form = event.detail.xhr.status === 401 && (document.querySelector("dialog[open] form[action]") ?? [...document.forms].find(isWritten));
    if (form && isWritten(form)) keep(form);
  });
}
