// Shows failed requests in their form, which keeps its input. A form from an earlier session gets a new CSRF token.
import { isBusy } from "./keep_input.js";

function showError(form, text, xhr) {
  form.querySelector(":scope > .banner.refused")?.remove();
  const banner = document.createElement("div");
  banner.className = "banner wrong refused";
  banner.setAttribute("role", "alert");
  banner.tabIndex = -1;
  banner.textContent = text;
  form.prepend(banner);
  // A user who is typing keeps the focus. Screen readers read the alert anyway.
  if (!isBusy(xhr)) banner.focus();
}

// Reads the CSRF token of the current session.
async function renew() {
  const response = await fetch(location.href, { headers: { Accept: "text/html" } });
  const token = new DOMParser().parseFromString(await response.text(), "text/html").querySelector("meta[name=csrf]")?.content;
  if (!token) return false;
  document.querySelector("meta[name=csrf]").content = token;
  for (const field of document.querySelectorAll("input[name=csrf]")) field.value = token;
  return true;
}

export function startRefused() {
  document.addEventListener("htmx:responseError", async (event) => {
    const form = event.detail.elt;
    if (!form.matches("form")) return;
    const part = new DOMParser().parseFromString(event.detail.xhr.responseText, "text/html").querySelector("[data-problem]");
    if (part?.dataset.problem === "foreign-form" && await renew()) {
      showError(form, "You have logged in again since you opened this form. Nothing was changed yet. Send it again.", event.detail.xhr);
    } else showError(form, part?.textContent.trim() || "The request failed, and its result is unknown. Check the result, then try again.", event.detail.xhr);
  });
  for (const name of ["htmx:sendError", "htmx:timeout"]) {
    document.addEventListener(name, (event) => {
      if (event.detail.elt.matches("form")) showError(event.detail.elt, "The server did not respond. Check the result, then try again. Your input is still here.", event.detail.xhr);
    });
  }
}
