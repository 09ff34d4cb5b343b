// Draws the heatmap with its axes, its colour bar and the outline of the chosen cell.

// --- The picture ----------------------------------------------------------------------------------------------------

const map = element("map");
const canvas = element("heatmap");
const overlay = element("overlay");
let axes = [0, Math.min(1, nMeasures - 1)];
let model = null;
let view = null; // where the tiles are on the canvas, in device pixels, and the tile of each pixel
let shown = -1; // the tile under the pointer or the keyboard cursor
let pinned = -1; // the tile that was clicked
let shownColors = { name: data.objective, values: objectives, range: data.range, ownSign };

function level(value) {
  if (Number.isNaN(value)) return 1;
  const [low, high] = shownColors.range;
  return 2 + Math.round(Math.max(0, Math.min(1, (value - low) / (high - low))) * 253);
}

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
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  const width = Math.round(map.clientWidth * ratio);
  const narrow = map.clientWidth < 420;
  const left = Math.round((narrow ? 50 : 64) * ratio);
  const right = Math.round((narrow ? 66 : 92) * ratio);
  const [top, bottom] = [Math.round(10 * ratio), Math.round(46 * ratio)];
  const inner = Math.max(20, width - left - right);
  const innerHeight = nMeasures === 1 ? Math.round(90 * ratio) : inner;
  const height = innerHeight + top + bottom;
  for (const c of [canvas, overlay]) {
    c.width = width;
    c.height = height;
  }
  // For tests: where the tiles are inside the element, in CSS pixels.
  map.dataset.area = [left, top, inner, innerHeight].map((v) => v / ratio).join(" ");
  view = { ratio, narrow, left, top, width: inner, height: innerHeight, owner: new Int32Array(inner * innerHeight) };
  for (let row = 0; row < view.height; row++) {
    const y = 1 - (row + 0.5) / view.height;
    for (let column = 0; column < view.width; column++) {
      view.owner[row * view.width + column] = model.at((column + 0.5) / view.width, y);
    }
  }
}

function draw() {
  layout();
  const context = canvas.getContext("2d");
  const image = context.createImageData(view.width, view.height);
  const palette = levelColors();
  for (let i = 0; i < view.owner.length; i++) {
    const elite = model.best[view.owner[i]];
    const color = 3 * (elite < 0 ? 0 : level(shownColors.values[elite]));
    image.data[4 * i] = palette[color];
    image.data[4 * i + 1] = palette[color + 1];
    image.data[4 * i + 2] = palette[color + 2];
    image.data[4 * i + 3] = 255;
  }
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.putImageData(image, view.left, view.top);
  drawAxes(context);
  drawColorBar(context);
  drawCursor();
}

function drawAxes(context) {
  const { ratio, left, top, width, height } = view;
  context.lineWidth = ratio;
  context.strokeStyle = pageColor("--muted");
  context.strokeRect(left, top, width, height);
  const font = (size) => `${size * ratio}px "Luminary Sans", Inter, Arial, sans-serif`;
  const [mx, my] = [measures[axes[0]], measures[axes[1]]];
  context.beginPath();
  context.font = font(12);
  context.fillStyle = pageColor("--muted");
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const value of ticks(mx.lower, mx.upper, Math.max(3, width / ratio / 90))) {
    const x = left + fractionOf(value, mx) * width;
    context.moveTo(x, top + height);
    context.lineTo(x, top + height + 4 * ratio);
    context.fillText(format(value, 5), x, top + height + 7 * ratio);
  }
  context.font = font(13);
  context.fillStyle = pageColor("--ink");
  context.fillText(shorten(context, mx.name, width), left + width / 2, top + height + 27 * ratio);
  if (nMeasures > 1) {
    context.font = font(12);
    context.fillStyle = pageColor("--muted");
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const value of ticks(my.lower, my.upper, Math.max(3, height / ratio / 70))) {
      const y = top + height - fractionOf(value, my) * height;
      context.moveTo(left - 4 * ratio, y);
      context.lineTo(left, y);
      context.fillText(format(value, 5), left - 7 * ratio, y);
    }
    context.font = font(13);
    context.fillStyle = pageColor("--ink");
    upwards(context, shorten(context, my.name, height), 10 * ratio, top + height / 2);
  }
  context.stroke();
}

function drawColorBar(context) {
  const { ratio, left, top, width, height } = view;
  const [x, barWidth] = [left + width + 16 * ratio, 14 * ratio];
  for (let i = 0; i < height; i++) {
    const color = 3 * (2 + Math.round((1 - i / height) * 253));
    context.fillStyle = `rgb(${palette[color]},${palette[color + 1]},${palette[color + 2]})`;
    context.fillRect(x, top + i, barWidth, 1.5);
  }
  context.strokeRect(x, top, barWidth, height);
  context.font = `${12 * ratio}px "Luminary Sans", Inter, Arial, sans-serif`;
  context.fillStyle = pageColor("--muted");
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.beginPath();
  const [low, high] = shownColors.range;
  const ends = shownColors.range.map(shownColors.ownSign).sort((a, b) => a - b);
  for (const value of ticks(...ends, Math.max(2, height / ratio / 70))) {
    const y = top + height - ((shownColors.ownSign(value) - low) / (high - low)) * height;
    context.moveTo(x + barWidth, y);
    context.lineTo(x + barWidth + 4 * ratio, y);
    context.fillText(format(value, 5), x + barWidth + 7 * ratio, y);
  }
  context.stroke();
  const outside = (test) => shownColors.values.some(test);
  if (outside((value) => value > high)) drawArrow(context, x, top, barWidth, -7 * ratio, 255);
  if (outside((value) => value < low)) drawArrow(context, x, top + height, barWidth, 7 * ratio, 2);
  if (view.narrow) return;
  context.font = `${13 * ratio}px "Luminary Sans", Inter, Arial, sans-serif`;
  context.fillStyle = pageColor("--ink");
  upwards(context, shorten(context, shownColors.name, height), left + width + 82 * ratio, top + height / 2);
}

// A triangle at an end of the colour bar says that values lie outside.
function drawArrow(context, x, y, width, height, level) {
  context.fillStyle = `rgb(${palette[3 * level]},${palette[3 * level + 1]},${palette[3 * level + 2]})`;
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x + width / 2, y + height);
  context.lineTo(x + width, y);
  context.closePath();
  context.fill();
  context.stroke();
}

function upwards(context, text, x, y) {
  context.save();
  context.translate(x, y);
  context.rotate(-Math.PI / 2);
  context.textAlign = "center";
  context.fillText(text, 0, 0);
  context.restore();
}

function shorten(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let kept = Array.from(text).slice(0, 300);
  while (kept.length > 1 && context.measureText(kept.join("") + "…").width > width) kept.pop();
  return kept.join("") + "…";
}

// Outlines the shown and the pinned tile; a ring makes tiny tiles visible.
function drawCursor() {
  const context = overlay.getContext("2d");
  context.clearRect(0, 0, overlay.width, overlay.height);
  for (const [tile, color] of [[shown, pageColor("--ink")], [pinned, "#d55e00"]]) {
    if (tile < 0) continue;
    const { left, top, width, height, owner, ratio } = view;
    context.fillStyle = color;
    const [cx, cy] = model.center(tile);
    let size = 0;
    for (let i = 0; i < owner.length; i++) {
      if (owner[i] !== tile) continue;
      size++;
      const [column, row] = [i % width, Math.floor(i / width)];
      const inside =
        column > 0 && column < width - 1 && row > 0 && row < height - 1 &&
        owner[i - 1] === tile && owner[i + 1] === tile && owner[i - width] === tile && owner[i + width] === tile;
      if (!inside) context.fillRect(left + column, top + row, Math.ceil(ratio), Math.ceil(ratio));
    }
    if (size < 400 * ratio * ratio) {
      context.strokeStyle = color;
      context.lineWidth = 2 * ratio;
      context.beginPath();
      context.arc(left + cx * width, top + (1 - cy) * height, 11 * ratio, 0, 2 * Math.PI);
      context.stroke();
    }
  }
}
