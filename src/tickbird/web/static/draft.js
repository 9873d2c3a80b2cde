// What was written into a long form is kept in this tab until it is answered: a session that has ended loses none of it.
const KEY = "tickbird-draft";

function keep(form) {
  const fields = [...new FormData(form)].filter(([name]) => name !== "csrf");
  // More than a tab can keep is sent all the same.
  try { sessionStorage.setItem(KEY, JSON.stringify({ path: location.pathname, fields })); } catch { sessionStorage.removeItem(KEY); }
}

// With the revision that it was written for: what somebody else has changed since is shown as ever.
function fillIn(form, fields) {
  for (const field of form.elements) {
    const values = fields.filter(([name]) => name === field.name).map(([, value]) => value);
    if (field.type === "checkbox" || field.type === "radio") field.checked = values.includes(field.value);
    else if (field.type !== "submit" && values.length) field.value = values[0];
  }
  form.querySelector("textarea, input:not([type=hidden])")?.dispatchEvent(new Event("input", { bubbles: true }));
}

export function startDraft() {
  const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
  sessionStorage.removeItem(KEY);
  const form = document.getElementById("edit");
  const loggedIn = document.referrer && new URL(document.referrer).pathname.endsWith("/login");
  if (form && kept && loggedIn && kept.path === location.pathname) fillIn(form, kept.fields);
  document.addEventListener("submit", (event) => { if (event.target.matches("[data-draft]")) keep(event.target); });
}
