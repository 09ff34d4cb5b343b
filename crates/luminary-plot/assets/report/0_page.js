// What every page has: light and dark colours, and values under the pointer on curves.

const element = (id) => document.getElementById(id);
const root = document.documentElement;
const systemIsDark = window.matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : systemIsDark.matches);
// Called when the colours have changed; the heatmap draws itself anew.
const themeListeners = [];

function themeChanged() {
  element("theme").textContent = isDark() ? "Light" : "Dark";
  for (const listener of themeListeners) listener();
}

element("theme").addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  themeChanged();
});
systemIsDark.addEventListener("change", themeChanged);
element("theme").textContent = isDark() ? "Light" : "Dark";

// --- Curves -----------------------------------------------------------------------------------------------------------
// A panel carries its frame in pixels and its ranges; each line carries its name. That is enough to read values off it.

const tip = element("tip");

const numbers = (text) => text.split(" ").map(Number);

// The points of a path "M1 2L3 4..." in pixels.
function points(path) {
  if (!path.readPoints) path.readPoints = path.getAttribute("d").slice(1).split("L").map(numbers);
  return path.readPoints;
}

// The height of a line at a pixel column; null where it has none.
function heightAt(list, x) {
  for (let i = 0; i + 1 < list.length; i++) {
    const [[x1, y1], [x2, y2]] = [list[i], list[i + 1]];
    if (x >= x1 && x <= x2) return x2 > x1 ? y1 + ((y2 - y1) * (x - x1)) / (x2 - x1) : y1;
  }
  return null;
}

// The column nearest to the pointer that has points: between them nothing was measured.
function nearestColumn(paths, x) {
  let nearest = x;
  let least = Infinity;
  for (const path of paths) {
    for (const [column] of points(path)) {
      const distance = Math.abs(column - x);
      if (distance < least) [least, nearest] = [distance, column];
    }
  }
  return nearest;
}

function readPanel(panel, pointer) {
  const [left, top, width, height] = numbers(panel.dataset.frame);
  const [xLow, xHigh, yLow, yHigh] = numbers(panel.dataset.ranges);
  const paths = Array.from(panel.querySelectorAll("path.line"));
  const x = nearestColumn(paths, pointer);
  const rows = [];
  for (const path of paths) {
    const y = heightAt(points(path), x);
    if (y === null) continue;
    const value = yLow + ((top + height - y) / height) * (yHigh - yLow);
    rows.push([path.dataset.name, value, path.getAttribute("stroke")]);
  }
  const at = xLow + ((x - left) / width) * (xHigh - xLow);
  // Pixels are written with two decimals, and iterations are whole.
  return { at: panel.dataset.x === "iteration" ? Math.round(at) : at, rows };
}

function showTip(event, panel, x) {
  const { at, rows } = readPanel(panel, x);
  tip.hidden = !rows.length;
  if (tip.hidden) return;
  const head = document.createElement("div");
  head.textContent = `${panel.dataset.x} ${format(at, panel.dataset.x === "iteration" ? 9 : 4)}`;
  const lines = rows.map(([name, value, color]) => {
    const line = document.createElement("div");
    const mark = document.createElement("span");
    mark.style.background = color;
    line.append(mark, name ? `${name}: ${format(value, 4)}` : `${panel.dataset.y} ${format(value, 4)}`);
    return line;
  });
  tip.replaceChildren(head, ...lines);
  const room = root.clientWidth - tip.offsetWidth - 8;
  tip.style.left = `${window.scrollX + Math.max(4, Math.min(event.clientX + 14, room))}px`;
  tip.style.top = `${window.scrollY + event.clientY + 14}px`;
}

for (const svg of document.querySelectorAll("figure svg")) {
  const panels = svg.querySelectorAll("g.panel");
  if (!panels.length) continue;
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const scale = svg.viewBox.baseVal.width / box.width;
    const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
    const isInside = (panel) => {
      const [left, top, width, height] = numbers(panel.dataset.frame);
      return x >= left && x <= left + width && y >= top && y <= top + height;
    };
    const panel = Array.from(panels).find(isInside);
    if (panel) showTip(event, panel, x);
    else tip.hidden = true;
  });
  svg.addEventListener("pointerleave", () => (tip.hidden = true));
}
