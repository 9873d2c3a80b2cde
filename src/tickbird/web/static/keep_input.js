// A response never overwrites newer input. A field that changed after the request was sent keeps its value, focus and
// selection when the response replaces it. A response for a form that is gone is dropped.
const FIELD = "input:not([type=hidden]):not([hidden]), select:not([hidden]), textarea:not([hidden])";
const isBox = (field) => field.type === "checkbox" || field.type === "radio";

const stateOf = (field) => (isBox(field) ? field.checked : field.value);
function defaultOf(field) {
  if (isBox(field)) return field.defaultChecked;
  if (field.type !== "select-one") return field.defaultValue;
  return ([...field.options].find((option) => option.defaultSelected) ?? field.options[0])?.value;
}
/** True if the field differs from the page that the server sent. */
export const isChanged = (field) => stateOf(field) !== defaultOf(field);

// A field by its name, since a response has new elements. Boxes share a name, so their value is part of the key.
function fieldsOf(part) {
  const fields = new Map();
  for (const field of part.querySelectorAll(FIELD)) {
    if (!field.name) continue;
    const base = `${field.name}\n${isBox(field) ? field.value : ""}`;
    let number = 0;
    while (fields.has(`${base}\n${number}`)) number += 1;
    fields.set(`${base}\n${number}`, field);
  }
  return fields;
}

/** The state of each field of a part, to compare with later. */
export const snapshot = (part) => new Map([...fieldsOf(part)].map(([key, field]) => [key, stateOf(field)]));

/** The state of each field of a part that changed since a snapshot. */
export function changesSince(before, part) {
  const changed = [...fieldsOf(part)].filter(([key, field]) => stateOf(field) !== (before.has(key) ? before.get(key) : defaultOf(field)));
  return new Map(changed.map(([key, field]) => [key, stateOf(field)]));
}

const takes = (field, state) => field.type !== "select-one" || [...field.options].some((option) => option.value === state);

/** True if a part has a field for each change. An emptied field needs none. */
function holds(part, changes) {
  const fields = fieldsOf(part);
  return [...changes].every(([key, state]) => !state || (fields.has(key) && takes(fields.get(key), state)));
}

/** Writes changes into the fields of a part, and returns those fields. */
export function apply(changes, part) {
  const fields = [...fieldsOf(part)].filter(([key, field]) => changes.has(key) && takes(field, changes.get(key)));
  for (const [key, field] of fields) {
    if (isBox(field)) field.checked = changes.get(key); else field.value = changes.get(key);
  }
  return fields.map(([, field]) => field);
}

// The caret of the focused field. Fields such as dates have none.
const caretOf = (field) => [field.selectionStart ?? null, field.selectionEnd ?? null, field.selectionDirection ?? undefined];
const focused = () => (document.activeElement?.matches(FIELD) ? document.activeElement : null);

const requests = new Map();
const busy = new WeakSet();

/** True if the user worked in a field while this request was in flight, so that the focus must stay. */
export const isBusy = (xhr) => busy.has(xhr);

function noteBusy(xhr, { field, caret, state }) {
  const now = focused();
  if (now && (now !== field || String(caretOf(now)) !== caret || stateOf(now) !== state)) busy.add(xhr);
}

function makeBanner(text, link) {
  const banner = document.createElement("div");
  banner.className = "banner warn late-response";
  banner.setAttribute("role", "status");
  banner.textContent = text;
  if (link) {
    const shown = document.createElement("a");
    Object.assign(shown, { href: link, textContent: "Show it" });
    banner.append(" ", shown);
  }
  return banner;
}

// The form was closed after it was sent. Its response cannot be shown in it, and must not take the user off this page.
function report(xhr, title) {
  const page = new DOMParser().parseFromString(xhr.responseText, "text/html");
  const to = xhr.getResponseHeader("HX-Redirect");
  const done = xhr.status >= 200 && xhr.status < 300;
  // The request was only for another view of the form.
  if (done && !to && page.querySelector("#form form")) return;
  const text = done ? "was completed after you closed the form." : xhr.status >= 400 && xhr.status < 500 ? "was refused after you closed the form. Nothing was changed." : "got no response after you closed the form. Check the result.";
  document.getElementById("stale").after(makeBanner(`“${title}” ${text}`, done ? to : null));
}

function drop(xhr, request) {
  requests.delete(xhr);
  // A sent change cannot be undone: report its result instead.
  if (request.submits) xhr.onload = xhr.onerror = xhr.ontimeout = () => report(xhr, request.title);
  else xhr.abort();
}

/** Drops the responses whose target is no longer on the page. */
export function dropOrphans() {
  for (const [xhr, request] of requests) if (!request.target.isConnected) drop(xhr, request);
}

function onSend({ detail: { xhr, target, elt, requestConfig } }) {
  const live = elt.id === "live";
  // The last request for a target wins. live.js orders the live refreshes.
  for (const [other, request] of live ? [] : requests) if (request.target === target && !request.live) drop(other, request);
  const field = focused();
  requests.set(xhr, {
    target, live,
    submits: requestConfig.verb === "post" && elt.matches("form"),
    title: (target.querySelector("h1, h2")?.textContent ?? "").trim().replace(/\s+/g, " "),
    before: snapshot(target),
    field, caret: field && String(caretOf(field)), state: field && stateOf(field),
  });
  xhr.addEventListener("loadend", () => requests.delete(xhr));
}

let pending = null;

function onBeforeSwap(event) {
  const { xhr, target, requestConfig, serverResponse } = event.detail;
  pending = null;
  const request = requests.get(xhr);
  if (!request) return;
  noteBusy(xhr, request);
  if (!event.detail.shouldSwap) return;
  const changes = changesSince(request.before, target);
  if (changes.size && !target.matches("#live")) {
    const page = new DOMParser().parseFromString(serverResponse, "text/html");
    const select = requestConfig.elt.getAttribute("hx-select");
    if (!holds((select && page.querySelector(select)) || page.body, changes)) {
      event.detail.shouldSwap = false;
      const place = target.querySelector("form") ?? target;
      place.querySelector(":scope > .late-response")?.remove();
      place.prepend(makeBanner("The page was not updated, because you changed the form meanwhile. Press the button again."));
      return;
    }
  }
  const field = focused();
  const keys = field && target.contains(field) ? [...fieldsOf(target)].find(([, other]) => other === field) : null;
  pending = { root: target.parentElement, changes, key: keys?.[0], caret: field && caretOf(field) };
}

function onAfterSwap() {
  if (!pending) return;
  const { root, changes, key, caret } = pending;
  pending = null;
  const written = apply(changes, root);
  const field = key && fieldsOf(root).get(key);
  if (field) {
    field.focus({ preventScroll: true });
    if (caret[0] !== null) field.setSelectionRange?.(...caret);
  }
  // The command line and previews follow the newer input; they listen once the swap has settled.
  if (written.length) document.addEventListener("htmx:afterSettle", () => written[0].dispatchEvent(new Event("change", { bubbles: true })), { once: true });
}

export function startTyping() {
  document.addEventListener("htmx:beforeSend", onSend);
  document.addEventListener("htmx:beforeSwap", onBeforeSwap);
  document.addEventListener("htmx:afterSwap", onAfterSwap);
  document.addEventListener("htmx:afterSwap", dropOrphans);
  for (const name of ["htmx:sendError", "htmx:timeout"]) {
    document.addEventListener(name, ({ detail: { xhr } }) => { if (requests.has(xhr)) noteBusy(xhr, requests.get(xhr)); });
  }
}
