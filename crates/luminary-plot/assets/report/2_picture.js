// Draws the heatmap with its axes, its colour bar and the outline of the chosen cell.

const map = element("map");
const canvas = element("heatmap");
const overlay = element("overlay");
let axes = [0, Math.min(1, nMeasures - 1)];
let model = null;
let view = null; // where the tiles are on the canvas, in device pixels, and the tile of each pixel
let shown = -1; // the tile under the pointer or the keyboard cursor
let pinned = -1; // the tile that was clicked
let shownColors = { name: data.objective, values: objectives, range: data.range, ownSign };

// A colour of the style sheet, which differs between light and dark pages.
const pageColor = (name) => getComputedStyle(root).getPropertyValue(name).trim();

// The colours of all levels, as bytes; cells without an elite have the page's.
function levelColors() {
  const colors = Uint8Array.from(palette);
  const empty = pageColor("--empty");
  for (let i = 0; i < 3; i++) colors[i] = parseInt(empty.slice(1 + 2 * i, 3 + 2 * i), 16);
  return colors;
}

function layout() {
  view = makeView(model, map.clientWidth, nMeasures);
  for (const c of [canvas, overlay]) {
    c.width = view.canvasWidth;
    c.height = view.canvasHeight;
  }
  // For tests: where the tiles are inside the element, in CSS pixels.
  map.dataset.area = [view.left, view.top, view.width, view.height].map((v) => v / view.ratio).join(" ");
}

function draw() {
  layout();
  const context = canvas.getContext("2d");
  const ink = { ink: pageColor("--ink"), muted: pageColor("--muted") };
  context.clearRect(0, 0, canvas.width, canvas.height);
  drawTiles(context, view, model, shownColors.values, shownColors.range, levelColors());
  drawAxes(context, view, measures[axes[0]], nMeasures > 1 ? measures[axes[1]] : null, ink);
  drawColorBar(context, view, palette, shownColors, ink);
  drawCursor();
}

// Outlines the shown and the pinned tile.
function drawCursor() {
  const context = overlay.getContext("2d");
  context.clearRect(0, 0, overlay.width, overlay.height);
  for (const [tile, color] of [[shown, pageColor("--ink")], [pinned, "#d55e00"]]) {
    if (tile >= 0) drawOutline(context, view, model, tile, color);
  }
}
