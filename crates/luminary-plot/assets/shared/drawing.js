// Draws heatmaps: tiles, axes, colour bar, outlines. The report and the live view share this file; the report puts
// it into one scope with its own scripts.
//
// A view says where the tiles are on a canvas, in device pixels, and which tile each of its pixels belongs to. A palette
// is RGB bytes: empty, not a number, then from low to high. `ink` holds the page's colours.

import { format, ticks } from "./numbers.js";
import { fractionOf } from "./tiles.js";

const FONT = '"Luminary Sans", Inter, Arial, sans-serif';

// The view of a model in an element of this width, with room for axes and a colour bar.
export function makeView(model, clientWidth, nMeasures) {
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  const canvasWidth = Math.round(clientWidth * ratio);
  const narrow = clientWidth < 420;
  const left = Math.round((narrow ? 50 : 64) * ratio);
  const right = Math.round((narrow ? 66 : 92) * ratio);
  const [top, bottom] = [Math.round(10 * ratio), Math.round(46 * ratio)];
  const width = Math.max(20, canvasWidth - left - right);
  const height = nMeasures === 1 ? Math.round(90 * ratio) : width;
  const owner = new Int32Array(width * height);
  for (let row = 0; row < height; row++) {
    const y = 1 - (row + 0.5) / height;
    for (let column = 0; column < width; column++) owner[row * width + column] = model.at((column + 0.5) / width, y);
  }
  return { ratio, narrow, left, top, width, height, canvasWidth, canvasHeight: height + top + bottom, owner };
}

// The place of a value among the colours.
export function level(value, range) {
  if (Number.isNaN(value)) return 1;
  const low = range[0];
  const high = range[1];
  return 2 + Math.round(Math.max(0, Math.min(1, (value - low) / (high - low))) * 253);
}

// Colours each pixel by the value of the elite that its tile shows.
export function drawTiles(context, view, model, values, range, palette) {
  const image = context.createImageData(view.width, view.height);
  const levels = new Uint8Array(model.best.length);
  for (let tile = 0; tile < levels.length; tile++) {
    const elite = model.best[tile];
    levels[tile] = elite < 0 ? 0 : level(values[elite], range);
  }
  // A pixel at a time, whatever the order of its bytes.
  const bytes = new Uint8Array(4 * 256).fill(255);
  for (let i = 0; i < 256; i++) bytes.set(palette.subarray(3 * i, 3 * i + 3), 4 * i);
  const colors = new Uint32Array(bytes.buffer);
  const pixels = new Uint32Array(image.data.buffer);
  for (let i = 0; i < pixels.length; i++) pixels[i] = colors[levels[view.owner[i]]];
  context.putImageData(image, view.left, view.top);
}

// The frame with ticks and names of one or two measures.
export function drawAxes(context, view, mx, my, ink) {
  const { ratio, left, top, width, height } = view;
  context.lineWidth = ratio;
  context.strokeStyle = ink.muted;
  context.strokeRect(left, top, width, height);
  const font = (size) => `${size * ratio}px ${FONT}`;
  context.beginPath();
  context.font = font(12);
  context.fillStyle = ink.muted;
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const value of ticks(mx.lower, mx.upper, Math.max(3, width / ratio / 90))) {
    const x = left + fractionOf(value, mx) * width;
    context.moveTo(x, top + height);
    context.lineTo(x, top + height + 4 * ratio);
    context.fillText(format(value, 5), x, top + height + 7 * ratio);
  }
  context.font = font(13);
  context.fillStyle = ink.ink;
  context.fillText(shorten(context, mx.name, width), left + width / 2, top + height + 27 * ratio);
  if (my) {
    context.font = font(12);
    context.fillStyle = ink.muted;
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const value of ticks(my.lower, my.upper, Math.max(3, height / ratio / 70))) {
      const y = top + height - fractionOf(value, my) * height;
      context.moveTo(left - 4 * ratio, y);
      context.lineTo(left, y);
      context.fillText(format(value, 5), left - 7 * ratio, y);
    }
    context.font = font(13);
    context.fillStyle = ink.ink;
    upwards(context, shorten(context, my.name, height), 10 * ratio, top + height / 2);
  }
  context.stroke();
}

// The colours with their values; `shown` is { name, values, range, ownSign }.
export function drawColorBar(context, view, palette, shown, ink) {
  const { ratio, left, top, width, height } = view;
  const [x, barWidth] = [left + width + 16 * ratio, 14 * ratio];
  for (let i = 0; i < height; i++) {
    const color = 3 * (2 + Math.round((1 - i / height) * 253));
    context.fillStyle = `rgb(${palette[color]},${palette[color + 1]},${palette[color + 2]})`;
    context.fillRect(x, top + i, barWidth, 1.5);
  }
  context.strokeRect(x, top, barWidth, height);
  context.font = `${12 * ratio}px ${FONT}`;
  context.fillStyle = ink.muted;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.beginPath();
  const [low, high] = shown.range;
  const ends = shown.range.map(shown.ownSign).sort((a, b) => a - b);
  for (const value of ticks(...ends, Math.max(2, height / ratio / 70))) {
    const y = top + height - ((shown.ownSign(value) - low) / (high - low)) * height;
    context.moveTo(x + barWidth, y);
    context.lineTo(x + barWidth + 4 * ratio, y);
    context.fillText(format(value, 5), x + barWidth + 7 * ratio, y);
  }
  context.stroke();
  const outside = (test) => shown.values.some(test);
  if (outside((value) => value > high)) drawArrow(context, palette, x, top, barWidth, -7 * ratio, 255);
  if (outside((value) => value < low)) drawArrow(context, palette, x, top + height, barWidth, 7 * ratio, 2);
  if (view.narrow) return;
  context.font = `${13 * ratio}px ${FONT}`;
  context.fillStyle = ink.ink;
  upwards(context, shorten(context, shown.name, height), left + width + 82 * ratio, top + height / 2);
}

// A triangle at an end of the colour bar says that values lie outside.
function drawArrow(context, palette, x, y, width, height, level) {
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

// Outlines a tile; a ring makes tiny tiles visible.
export function drawOutline(context, view, model, tile, color) {
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
  if (size >= 400 * ratio * ratio) return;
  context.strokeStyle = color;
  context.lineWidth = 2 * ratio;
  context.beginPath();
  context.arc(left + cx * width, top + (1 - cy) * height, 11 * ratio, 0, 2 * Math.PI);
  context.stroke();
}

// The tile under a pointer, or -1.
export function tileAt(canvas, view, event) {
  const box = canvas.getBoundingClientRect();
  const scale = canvas.width / box.width;
  const x = (event.clientX - box.left) * scale - view.left;
  const y = (event.clientY - box.top) * scale - view.top;
  if (x < 0 || y < 0 || x >= view.width || y >= view.height) return -1;
  return view.owner[Math.floor(y) * view.width + Math.floor(x)];
}
