// Live pages: one stream of words that something happened, only while the page is seen; and what is shown when it stops.
const banner = () => document.getElementById("stale");
let source = null;
let heard = Date.now();
let lost = null;

function open() {
  if (source || document.hidden) return;
  source = new EventSource(document.body.dataset.live);
  source.addEventListener("open", () => {
    lost = null;
    heard = Date.now();
    // What changes by itself says by its next reading that it is up to date; a page without has nothing to wait for.
    if (!document.getElementById("live")) fresh();
  });
  source.addEventListener("changed", () => refresh());
  source.addEventListener("error", () => {
    lost ??= Date.now();
    // A browser tries again by itself, unless it was refused.
    if (source && source.readyState === EventSource.CLOSED) { close(); setTimeout(open, 3000); }
    tell();
  });
}

function close() {
  source?.close();
  source = null;
}

function refresh() {
  document.body.dispatchEvent(new Event("live"));
}

function fresh() {
  document.body.removeAttribute("data-stale");
  banner().hidden = true;
  for (const each of document.querySelectorAll(".banner.stale:not(#stale)")) each.remove();
}

// Never stale green: what cannot be brought up to date is grey and says since when.
function tell() {
  const gone = lost !== null && Date.now() - lost > 3000;
  if (gone) {
    document.body.setAttribute("data-stale", "");
    banner().hidden = false;
    banner().textContent = `Not live: this page is ${words(Date.now() - heard)} old. The server or its store does not respond. The page reconnects automatically.`;
  }
}

function words(ms) {
  const s = Math.round(ms / 1000);
  if (s < 60) return `${s} s`;
  return s < 3600 ? `${Math.floor(s / 60)} min ${s % 60} s` : `${Math.floor(s / 3600)} h ${Math.floor(s / 60) % 60} min`;
}

// How far off instants are, without asking the server.
const skew = () => Number(document.body.dataset.skew || 0);
function count() {
  const now = Date.now() + skew();
  for (const each of document.querySelectorAll("time.far, [data-at]")) {
    const away = Date.parse(each.dataset.at ?? each.dateTime) - now;
    const text = Math.abs(away) < 1000 ? "now" : away > 0 ? `in ${far(away)}` : `${far(-away)} ago`;
    if (each.textContent !== text) each.textContent = text;
  }
}

function far(ms) {
  let rest = ms / 1000;
  const step = rest >= 86400 ? 3600 : rest >= 3600 ? 60 : 1;
  rest = Math.round(rest / step) * step;
  const parts = [];
  for (const [name, unit] of [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]]) {
    const n = Math.floor(rest / unit);
    rest -= n * unit;
    if (n) parts.push(`${n} ${name}`);
  }
  return parts.slice(0, 2).join(" ");
}

export function startLive() {
  if (!document.body.dataset.live) return;
  const shown = document.querySelector("meta[name=now]");
  if (shown) document.body.dataset.skew = String(Date.parse(shown.content) - Date.now());
  document.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.elt.id !== "live") return;
    if (event.detail.successful) {
      heard = Date.now();
      lost = null;
      fresh();
    } else {
      lost ??= Date.now();
      tell();
      setTimeout(refresh, 3000);
    }
  });
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { elt, path } = event.detail.requestConfig;
    if (elt.id !== "live" || path === document.getElementById("live")?.getAttribute("hx-get")) return;
    // It was asked for before the visitor asked for something else: what is shown now is not taken back for it.
    event.detail.shouldSwap = false;
    refresh();
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) close();
    else { open(); refresh(); }
  });
  addEventListener("pagehide", close);
  setInterval(() => { count(); tell(); }, 1000);
  // Heartbeats of workers and the passing of time are nothing that happens.
  setInterval(() => { if (!document.hidden) refresh(); }, 15000);
  // A page that was shown from memory asks until it can be read again.
  if (document.body.hasAttribute("data-stale")) { lost = Date.now(); setTimeout(refresh, 2000); }
  open();
}
