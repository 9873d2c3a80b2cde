// The log of a run: streams new lines, filters while the user types, and limits the number of lines on the page.
const MAX_LINES = 1000;
let source = null;
let ended = false;

const log = () => document.getElementById("log");
const atEnd = (box) => box.scrollHeight - box.scrollTop - box.clientHeight < 40;
const toEnd = (box) => { box.scrollTop = box.scrollHeight; };

function open() {
  const box = log();
  if (source || ended || document.hidden || !box?.dataset.stream) return;
  const address = new URL(box.dataset.stream, location.href);
  address.searchParams.set("after", box.dataset.last);
  source = new EventSource(address);
  source.addEventListener("lines", (event) => {
    const followEnd = atEnd(box);
    box.insertAdjacentHTML("beforeend", JSON.parse(event.data).html);
    box.dataset.last = event.lastEventId;
    document.getElementById("log-empty")?.remove();
    const lines = box.querySelectorAll(".line");
    for (const old of [...lines].slice(0, Math.max(0, lines.length - MAX_LINES))) old.remove();
    if (lines.length > MAX_LINES) document.getElementById("log-dropped").hidden = false;
    filter();
    if (followEnd) toEnd(box);
  });
  // Delayed, because all open pages share query results for one second.
  source.addEventListener("progress", () => setTimeout(() => document.body.dispatchEvent(new Event("live")), 1100));
  source.addEventListener("end", () => { ended = true; close(); });
  source.addEventListener("error", () => {
    if (source?.readyState === EventSource.CLOSED) { close(); setTimeout(open, 3000); }
  });
}

function close() {
  source?.close();
  source = null;
}

// Filters the lines on the page. Submitting the form searches the complete log on the server.
function filter() {
  const form = document.getElementById("log-filter");
  const text = form.elements.q.value.toLowerCase();
  const level = Number(form.elements.level.value);
  for (const line of log().querySelectorAll(".line")) {
    const matches = Number(line.dataset.level) >= level && line.lastElementChild.textContent.toLowerCase().includes(text);
    if (line.hidden === matches) line.hidden = !matches;
  }
}

export function startLog() {
  const box = log();
  if (!box) return;
  document.getElementById("log-filter").addEventListener("input", filter);
  if (!box.dataset.page) toEnd(box);
  document.addEventListener("visibilitychange", () => { if (document.hidden) close(); else open(); });
  addEventListener("pagehide", close);
  open();
}
