// The live view: which page is shown, light and dark, and what the server pushes.

import { getJson, getPalette, type Pulse, type RunLine } from "./api";
import { CompareView } from "./compare";
import { h, visible } from "./dom";
import { ListView } from "./list";
import { RunView } from "./run";
import type { View } from "./view";

const root = document.documentElement;
const page = document.getElementById("page")!;
const crumbs = document.getElementById("crumbs")!;
const link = document.getElementById("link")!;
const theme = document.getElementById("theme")!;
const systemIsDark = window.matchMedia("(prefers-color-scheme: dark)");

let view: View | null = null;
let runs: RunLine[] = [];
let listTag = "";
let stream: EventSource | null = null;
let address = "";
// Where the list was left.
let listAddress = "#/";

// --- Light and dark ---------------------------------------------------------------------------------------------------

const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : systemIsDark.matches);

function recolor() {
  theme.textContent = isDark() ? "Light" : "Dark";
  view?.recolor?.();
}

theme.addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  localStorage.setItem("theme", root.dataset.theme);
  recolor();
});
systemIsDark.addEventListener("change", recolor);
const stored = localStorage.getItem("theme");
if (stored === "light" || stored === "dark") root.dataset.theme = stored;
recolor();

// --- Pages --------------------------------------------------------------------------------------------------------------

// The choice is in the address, so that a link shows what you saw.
function remember(path: string) {
  return (query: URLSearchParams) => {
    const text = String(query);
    address = text ? `#${path}?${text}` : `#${path}`;
    if (path === "/") listAddress = address;
    if (location.hash !== address) history.replaceState(null, "", address);
  };
}

async function route() {
  if (location.hash === address && view) return;
  address = location.hash;
  const [path, text] = location.hash.replace(/^#/, "").split("?");
  const query = new URLSearchParams(text ?? "");
  const run = /^\/run\/([0-9a-f]+)$/.exec(path)?.[1];
  const palette = await getPalette();
  if (run) view = new RunView(run, query, palette, remember(path));
  else if (path === "/compare") view = new CompareView(query, palette, remember(path));
  else view = new ListView(query, remember("/"));
  page.replaceChildren(view.element);
  if (runs.length || listTag) view.list(runs);
  crumbs.replaceChildren(...(run || path === "/compare" ? [h("a", { href: listAddress }, "All runs")] : []));
  listen();
}

window.addEventListener("hashchange", () => void route());

// --- What the server pushes -------------------------------------------------------------------------------------------

// A page in the background needs nothing, and a browser has few connections to one server.
function listen() {
  stream?.close();
  stream = null;
  if (document.hidden) return;
  stream = new EventSource(view?.run ? `/api/events?run=${view.run}` : "/api/events");
  stream.addEventListener("open", () => connected(true));
  stream.addEventListener("error", () => connected(false));
  stream.addEventListener("pulse", (event) => void receive(JSON.parse((event as MessageEvent).data)));
}

function connected(isOpen: boolean) {
  link.textContent = isOpen ? "" : "not connected";
  root.dataset.connected = String(isOpen);
  // A browser gives a stream up for good if the server refuses it.
  if (!isOpen && stream?.readyState === EventSource.CLOSED) setTimeout(listen, 2000);
}

async function receive(pulse: Pulse) {
  if (pulse.list && pulse.list !== listTag) {
    try {
      const found = await getJson<{ runs: RunLine[] }>("/api/runs");
      runs = found.runs;
      listTag = pulse.list;
      view?.list(runs);
      document.title = view?.run ? `${visible(view.title)} – Luminary` : `Luminary: ${runs.length} runs`;
    } catch {
      // The next pulse tries again.
    }
  }
  view?.pulse?.(pulse.run);
}

document.addEventListener("visibilitychange", listen);
document.addEventListener("keydown", (event) => {
  if (!event.defaultPrevented && !event.ctrlKey && !event.metaKey && !event.altKey) view?.key?.(event);
});
void route();
