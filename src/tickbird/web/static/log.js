// The log of a run: new lines as they come, the filter as one types, and never more lines than a page can bear.
const MOST = 1000;
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
    const stay = atEnd(box);
    box.insertAdjacentHTML("beforeend", JSON.parse(event.data).html);
    box.dataset.last = event.lastEventId;
    document.getElementById("log-empty")?.remove();
    const lines = box.querySelectorAll(".line");
    for (const old of [...lines].slice(0, Math.max(0, lines.length - MOST))) old.remove();
    if (lines.length > MOST) document.getElementById("log-dropped").hidden = false;
    filter();
    if (stay) toEnd(box);
  });
  // A little later, since all open pages share what was read within the last second.
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

// Of the lines that are here; the form asks the server for those that are not.
function filter() {
  const form = document.getElementById("log-filter");
  const text = form.elements.q.value.toLowerCase();
  const level = Number(form.elements.level.value);
  for (const line of log().querySelectorAll(".line")) {
    const fits = Number(line.dataset.level) >= level && line.lastElementChild.textContent.toLowerCase().includes(text);
    if (line.hidden === fits) line.hidden = !fits;
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
