// Applies the stored theme before the first paint, so that a dark page does not flash. Default: the system's theme.
const stored = localStorage.getItem("tickbird-theme");
if (stored === "light" || stored === "dark") document.documentElement.dataset.theme = stored;
document.documentElement.dataset.scripts = "";
