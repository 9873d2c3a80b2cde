// A form that gets no answer stays as it was typed, and says why; one that was opened in an earlier session is made good.
import { isBusy } from "./keep_input.js";

function tell(form, text, xhr) {
  form.querySelector(":scope > .banner.refused")?.remove();
  const banner = document.createElement("div");
  banner.className = "banner wrong refused";
  banner.setAttribute("role", "alert");
  banner.tabIndex = -1;
  banner.textContent = text;
  form.prepend(banner);
  // A user who types on keeps the focus; the alert is read out all the same.
  if (!isBusy(xhr)) banner.focus();
}

// What proves that a form is of this session, as the page has it now.
async function renew() {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  const now = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("meta[name=csrf]")?.content;
  if (!now) return false;
  document.querySelector("meta[name=csrf]").content = now;
  for (const field of document.querySelectorAll("input[name=csrf]")) field.value = now;
  return true;
}

export function startRefused() {
  document.addEventListener("htmx:responseError", async (event) => {
    const form = event.detail.elt;
    if (!form.matches("form")) return;
    const part = new DOMParser().parseFromString(event.detail.xhr.responseText, "text/html").querySelector("[data-problem]");
    if (part?.dataset.problem === "foreign-form" && await renew()) {
      tell(form, "You have logged in again since you opened this form. Nothing was changed yet. Send it again.", event.detail.xhr);
    } else tell(form, part?.textContent.trim() || "The request failed, and its result is unknown. Check the result, then try again.", event.detail.xhr);
  });
  for (const name of ["htmx:sendError", "htmx:timeout"]) {
    document.addEventListener(name, (event) => {
      if (event.detail.elt.matches("form")) tell(event.detail.elt, "The server did not respond. Check the result, then try again. Your input is still here.", event.detail.xhr);
    });
  }
}
