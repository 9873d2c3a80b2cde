// Before anything is drawn, so that a dark page does not flash: what the visitor chose, else what the system says.
const kept = localStorage.getItem("tickbird-theme");
if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
document.documentElement.dataset.scripts = "";
