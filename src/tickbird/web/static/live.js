// Live updates: one event stream while the page is visible, and a banner if the stream stops.
const banner = () => document.getElementById("stale");
let source = null;
let updatedAt = Date.now();
let lostAt = null;

function open() {
  if (source || document.hidden) return;
  source = new EventSource(document.body.dataset.live);
  source.addEventListener("open", () => {
    lostAt = null;
    updatedAt = Date.now();
    // A page with a live part becomes fresh with its next refresh. Other pages are fresh at once.
    if (!document.getElementById("live")) markFresh();
  });
  source.addEventListener("changed", () => refresh());
  source.addEventListener("error", () => {
    lostAt ??= Date.now();
    // The browser reconnects automatically, unless the server refused the connection.
    if (source && source.readyState === EventSource.CLOSED) { close(); setTimeout(open, 3000); }
    showIfStale();
  });
}

function close() {
  source?.close();
  source = null;
}

let refreshedAt = Date.now();
function refresh() {
  refreshedAt = Date.now();
  document.body.dispatchEvent(new Event("live"));
}

function markFresh() {
  document.body.removeAttribute("data-stale");
  banner().hidden = true;
  for (const old of document.querySelectorAll(".banner.stale:not(#stale)")) old.remove();
}

// A page that cannot be updated turns grey and shows its age, so that old data never looks current.
function showIfStale() {
  if (lostAt !== null && Date.now() - lostAt > 3000) {
    document.body.setAttribute("data-stale", "");
    banner().hidden = false;
    banner().textContent = `Not live: this page is ${durationText(Date.now() - updatedAt)} old. The server or its store does not respond. The page reconnects automatically.`;
  }
}

function durationText(ms) {
  const s = Math.round(ms / 1000);
  if (s < 60) return `${s} s`;
  return s < 3600 ? `${Math.floor(s / 60)} min ${s % 60} s` : `${Math.floor(s / 3600)} h ${Math.floor(s / 60) % 60} min`;
}

// Updates relative times without a request.
const skew = () => Number(document.body.dataset.skew || 0);
function updateRelativeTimes() {
  const now = Date.now() + skew();
  for (const time of document.querySelectorAll("time.far, [data-at]")) {
    const away = Date.parse(time.dataset.at ?? time.dateTime) - now;
    const text = Math.abs(away) < 1000 ? "now" : away > 0 ? `in ${far(away)}` : `${far(-away)} ago`;
    if (time.textContent !== text) time.textContent = text;
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
      updatedAt = Date.now();
      lostAt = null;
      markFresh();
    } else {
      lostAt ??= Date.now();
      showIfStale();
      setTimeout(refresh, 3000);
    }
  });
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { elt, path } = event.detail.requestConfig;
    if (elt.id !== "live" || path === document.getElementById("live")?.getAttribute("hx-get")) return;
    // The user requested another view after this refresh was sent. Do not replace the newer view.
    event.detail.shouldSwap = false;
    refresh();
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) close();
    else { open(); refresh(); }
  });
  addEventListener("pagehide", close);
  setInterval(() => { updateRelativeTimes(); showIfStale(); }, 1000);
  // Heartbeats, offsets of consumers and the passing of time cause no event, so refresh periodically.
  setInterval(() => {
    const every = Number(document.getElementById("live")?.dataset.every || 15) * 1000;
    if (!document.hidden && Date.now() - refreshedAt >= every) refresh();
  }, 1000);
  // A page from the cache of stale pages retries until the store responds.
  if (document.body.hasAttribute("data-stale")) { lostAt = Date.now(); setTimeout(refresh, 2000); }
  open();
}
