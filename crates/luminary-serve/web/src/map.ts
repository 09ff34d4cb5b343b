// The heatmap of an archive: colours by a layer, the cell under pointer or keys, the cell that was chosen.

import { drawAxes, drawColorBar, drawOutline, drawTiles, level, makeView, tileAt } from "../../../luminary-plot/assets/shared/drawing.js";
import { withoutOutliers } from "../../../luminary-plot/assets/shared/numbers.js";
import { fractionOf, makeModel } from "../../../luminary-plot/assets/shared/tiles.js";
import type { Measure, Palette } from "./api";
import { h, pageColor } from "./dom";

// What is drawn: positions and values of elites. Higher objectives are better; values have the user's sign.
export interface Picture {
  kind: "grid" | "centroids" | "points";
  measures: Measure[];
  grid: number[] | null;
  centroids: Float64Array | null;
  nCells: number;
  nElites: number;
  cells: ArrayLike<number>;
  objectives: Float64Array;
  name: string;
  values: Float64Array;
  // Colours run the other way for what is minimised, so that light is always better.
  flipped: boolean;
  // Symmetric around zero, for differences.
  diverging?: boolean;
}

const ARROWS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
};

export class HeatMap {
  readonly element: HTMLElement;
  private canvas = h("canvas");
  private overlay = h("canvas", { class: "overlay" });
  private picture: Picture | null = null;
  private model: any = null;
  private view: any = null;
  private viewKey = "";
  private shown = -1;
  private chosen = -1;
  private axes: [number, number] = [0, 1];
  private places: (number[] | null)[] = [];

  constructor(
    private palette: Palette,
    private pointed: (elite: number, place: string) => void,
    private picked: (elite: number) => void,
  ) {
    this.element = h(
      "div",
      { class: "map", tabindex: 0, role: "application", "aria-label": "Heatmap of the archive; arrow keys move, Enter chooses" },
      this.canvas,
      this.overlay,
    );
    this.element.addEventListener("pointermove", (event) => this.point(this.view ? tileAt(this.canvas, this.view, event) : -1));
    this.element.addEventListener("pointerleave", () => this.point(-1));
    this.element.addEventListener("click", (event) => this.view && this.choose(tileAt(this.canvas, this.view, event)));
    this.element.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  show(picture: Picture, axes: [number, number]) {
    const isSame = this.picture?.kind === picture.kind && String(this.axes) === String(axes);
    this.picture = picture;
    this.axes = axes;
    if (!isSame) this.shown = this.chosen = -1;
    this.model = makeModel(picture, axes[0], axes[1]);
    this.draw();
  }

  // Marks the tile of an elite as chosen, without telling anybody.
  mark(elite: number) {
    this.chosen = this.model && elite >= 0 ? this.model.tileOf(elite) : -1;
    this.drawCursor();
  }

  // Shows where emitters are in measure space.
  showPlaces(places: (number[] | null)[]) {
    this.places = places;
    this.element.dataset.places = String(places.filter(Boolean).length);
    this.drawCursor();
  }

  draw() {
    const { picture, model } = this;
    const width = this.element.clientWidth;
    if (!picture || !model || width < 50) return;
    // Which pixel belongs to which tile changes with the size only, and takes longest.
    const shape = picture.kind === "points" ? Math.random() : `${picture.grid}/${picture.nCells}`;
    const key = `${width}/${window.devicePixelRatio}/${this.axes}/${picture.kind}/${shape}`;
    if (key !== this.viewKey) {
      this.view = makeView(model, width, picture.measures.length);
      this.viewKey = key;
      for (const canvas of [this.canvas, this.overlay]) {
        canvas.width = this.view.canvasWidth;
        canvas.height = this.view.canvasHeight;
      }
      const { left, top, width: w, height, ratio } = this.view;
      this.element.dataset.area = [left, top, w, height].map((v) => v / ratio).join(" ");
    }
    const context = this.canvas.getContext("2d")!;
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    const colors = this.colors();
    const ink = { ink: pageColor("--ink"), muted: pageColor("--muted") };
    const values = picture.flipped ? picture.values.map((value) => 0 - value) : picture.values;
    const range = picture.diverging ? symmetric(values) : withoutOutliers(values);
    this.element.dataset.range = range.join(" ");
    this.element.dataset.layer = picture.name;
    if (picture.kind === "points") this.drawPoints(context, values, range, colors);
    else drawTiles(context, this.view, model, values, range, colors);
    const [x, y] = this.axes;
    drawAxes(context, this.view, picture.measures[x], picture.measures.length > 1 ? picture.measures[y] : null, ink);
    const ownSign = (value: number) => (picture.flipped ? 0 - value : value);
    drawColorBar(context, this.view, colors, { name: picture.name, values, range, ownSign }, ink);
    this.drawCursor();
  }

  private drawPoints(context: CanvasRenderingContext2D, values: Float64Array, range: number[], colors: Uint8Array) {
    const { left, top, width, height, ratio } = this.view;
    const { measures, centroids, nElites } = this.picture!;
    context.fillStyle = pageColor("--empty");
    context.fillRect(left, top, width, height);
    const [x, y] = this.axes;
    const n = measures.length;
    const size = Math.max(1.5, Math.min(5, 60 / Math.sqrt(nElites + 1))) * ratio;
    for (let i = 0; i < nElites; i++) {
      const color = 3 * level(values[i], range);
      context.fillStyle = `rgb(${colors[color]},${colors[color + 1]},${colors[color + 2]})`;
      const px = left + fractionOf(centroids![i * n + x], measures[x]) * width;
      const py = n > 1 ? top + (1 - fractionOf(centroids![i * n + y], measures[y])) * height : top + height / 2;
      context.beginPath();
      context.arc(px, py, size, 0, 2 * Math.PI);
      context.fill();
    }
  }

  // The colours of all levels; cells without an elite have the page's.
  private colors(): Uint8Array {
    const colors = Uint8Array.from(this.picture?.diverging ? DIVERGING : this.palette.levels);
    const empty = pageColor("--empty");
    for (let i = 0; i < 3; i++) colors[i] = parseInt(empty.slice(1 + 2 * i, 3 + 2 * i), 16);
    return colors;
  }

  private drawCursor() {
    if (!this.view || !this.model) return;
    const context = this.overlay.getContext("2d")!;
    context.clearRect(0, 0, this.overlay.width, this.overlay.height);
    const marks: [number, string][] = [
      [this.shown, pageColor("--ink")],
      [this.chosen, "#d55e00"],
    ];
    for (const [tile, color] of marks) if (tile >= 0) drawOutline(context, this.view, this.model, tile, color);
    this.places.forEach((place, i) => place && this.drawPlace(context, i, place));
  }

  // The number of an emitter in a disc.
  private drawPlace(context: CanvasRenderingContext2D, emitter: number, place: number[]) {
    const { left, top, width, height, ratio } = this.view;
    const { measures } = this.picture!;
    const [x, y] = this.axes;
    // Rows may lie outside the bounds; their emitter is shown at the border.
    const within = (i: number) => Math.min(1, Math.max(0, fractionOf(place[i], measures[i])));
    const px = left + within(x) * width;
    const py = measures.length > 1 ? top + (1 - within(y)) * height : top + height / 2;
    context.beginPath();
    context.arc(px, py, 8 * ratio, 0, 2 * Math.PI);
    context.fillStyle = "#ffffff";
    context.fill();
    context.lineWidth = 1.5 * ratio;
    context.strokeStyle = "#1a1a1a";
    context.stroke();
    context.fillStyle = "#1a1a1a";
    context.font = `600 ${9.5 * ratio}px "Luminary Sans", Inter, Arial, sans-serif`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(String(emitter), px, py + 0.5 * ratio);
  }

  private point(tile: number) {
    if (tile === this.shown) return;
    this.shown = tile;
    this.drawCursor();
    this.pointed(tile < 0 ? -1 : this.model.best[tile], tile < 0 ? "" : this.model.name(tile));
  }

  private choose(tile: number) {
    if (tile < 0) return;
    this.chosen = tile;
    this.drawCursor();
    this.picked(this.model.best[tile]);
  }

  private key(event: KeyboardEvent) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.model) return;
    const from = this.shown >= 0 ? this.shown : this.chosen;
    const best = () => {
      const { objectives, nElites } = this.picture!;
      let found = -1;
      for (let i = 0; i < nElites; i++) if (found < 0 || objectives[i] > objectives[found]) found = i;
      return found < 0 ? this.model.at(0.5, 0.5) : this.model.tileOf(found);
    };
    if (event.key in ARROWS) this.point(from < 0 ? best() : this.model.step(from, ...ARROWS[event.key]));
    else if (event.key === "Home") this.point(best());
    else if (event.key === "Enter" || event.key === " ") this.choose(from < 0 ? best() : from);
    else if (event.key === "Escape") this.point(-1);
    else return;
    event.preventDefault();
  }
}

// From blue over the page's grey to orange, both safe for colour-blind readers.
const DIVERGING = (() => {
  const ends = [
    [0x00, 0x72, 0xb2],
    [0xe8, 0xe8, 0xe4],
    [0xd5, 0x5e, 0x00],
  ];
  const levels = new Uint8Array(3 * 256);
  levels.set([0xb4, 0xb8, 0xbd], 3);
  for (let i = 0; i < 254; i++) {
    const at = (2 * i) / 253;
    const [a, b] = at < 1 ? [ends[0], ends[1]] : [ends[1], ends[2]];
    const t = at < 1 ? at : at - 1;
    for (let k = 0; k < 3; k++) levels[3 * (2 + i) + k] = Math.round(a[k] + t * (b[k] - a[k]));
  }
  return levels;
})();

function symmetric(values: Float64Array): [number, number] {
  const [low, high] = withoutOutliers(values);
  const end = Math.max(Math.abs(low), Math.abs(high)) || 1;
  return [-end, end];
}
