// Curves of metrics: uPlot with the page's colours, zoom by dragging, and values under the pointer or else at the end.

import uPlot from "uplot";
import { format } from "../../../luminary-plot/assets/shared/numbers.js";
import { h, pageColor } from "./dom";
import { brief, grouped } from "./numbers";

export interface Line {
  name: string;
  // A colour, or the name of one of the page.
  color: string;
  isDashed?: boolean;
  values: (number | null)[];
  // Lower and upper edge of a band, if the line is a mean of several.
  band?: [(number | null)[], (number | null)[]];
}

const HEIGHT = 180;
const FONT = '12px "Luminary Sans", Inter, Arial, sans-serif';

export class Curve {
  readonly element: HTMLElement;
  private box = h("div", { class: "curve" });
  private readout = h("span", { class: "readout" });
  private plot: uPlot | null = null;
  private data: [number[], Line[]] = [[], []];
  private key = "";

  constructor(
    readonly title: string,
    private xName: string,
    // Whether the last value says how things stand.
    private atRest: "last value" | "nothing" = "last value",
  ) {
    this.element = h("figure", { class: "card" }, h("figcaption", {}, h("span", {}, title), this.readout), this.box);
    new ResizeObserver(() => {
      if (this.plot && this.box.clientWidth > 50) this.plot.setSize({ width: this.box.clientWidth, height: HEIGHT });
    }).observe(this.box);
  }

  show(x: number[], lines: Line[]) {
    this.data = [x, lines];
    const columns: any[] = [x];
    for (const line of lines) {
      if (line.band) columns.push(line.band[0], line.band[1]);
      columns.push(line.values);
    }
    const key = lines.map((line) => `${line.name}/${line.color}/${!!line.band}`).join();
    // A zoom stays as it is when lines grow.
    if (this.plot && key === this.key) this.plot.setData(columns as uPlot.AlignedData, this.isWhole());
    else this.make(columns as uPlot.AlignedData);
    this.key = key;
    this.read(null);
  }

  // Draws anew, for other colours of the page.
  redraw() {
    const [x, lines] = this.data;
    this.key = "";
    if (lines.length) this.show(x, lines);
  }

  // Says the values at a place, or else the last ones.
  private read(place: number | null | undefined) {
    const [x, lines] = this.data;
    const isSaid = typeof place === "number" || this.atRest === "last value";
    const parts = (isSaid ? lines : []).map((line) => {
      const value = typeof place === "number" ? line.values[place] : line.values.findLast((value) => value !== null);
      const text = value === null || value === undefined ? "–" : Math.abs(value) < 1e5 ? format(value, 5) : grouped(value);
      return h("span", { title: line.name }, lines.length > 1 ? mark(line) : null, text);
    });
    const at = typeof place === "number" ? [h("span", { class: "at" }, `${this.xName} ${format(x[place], 6)}`)] : [];
    this.readout.replaceChildren(...at, ...parts);
  }

  private isWhole(): boolean {
    const { min, max } = this.plot!.scales.x;
    const x = this.plot!.data[0];
    return min === undefined || max === undefined || x.length < 2 || (min <= x[0] && max >= x[x.length - 1]);
  }

  private make(columns: uPlot.AlignedData) {
    this.plot?.destroy();
    const series: uPlot.Series[] = [{}];
    const bands: uPlot.Band[] = [];
    // A single value is a point, because it makes no line.
    const points: uPlot.Series.Points = { show: (plot) => plot.data[0].length < 3, size: 6 };
    for (const line of this.data[1]) {
      const color = drawn(line.color);
      if (line.band) {
        const edge: uPlot.Series = { stroke: "transparent", width: 0, points: { show: false } };
        series.push(edge, edge);
        bands.push({ series: [series.length - 1, series.length - 2], fill: `${color}33` });
      }
      series.push({ stroke: color, width: 1.75, dash: line.isDashed ? [6, 4] : undefined, points, spanGaps: true });
    }
    const axis: uPlot.Axis = {
      stroke: pageColor("--muted"),
      grid: { stroke: pageColor("--faint"), width: 1 },
      ticks: { stroke: pageColor("--line"), width: 1, size: 4 },
      font: FONT,
      values: (_, splits) => splits.map((value) => (value === null ? "" : Math.abs(value) >= 1e4 ? brief(value) : format(value, 4))),
    };
    const options: uPlot.Options = {
      width: Math.max(200, this.box.clientWidth),
      height: HEIGHT,
      padding: [8, 18, 0, 0],
      series,
      bands,
      axes: [{ ...axis, space: 70, size: 30 }, { ...axis, size: 50 }],
      scales: { x: { time: false }, y: { range: (_, low, high) => yRange(low, high) } },
      cursor: { points: { size: 6 }, drag: { x: true, y: false } },
      legend: { show: false },
      hooks: { setCursor: [(plot) => this.read(plot.cursor.idx)] },
    };
    this.plot = new uPlot(options, columns, this.box);
  }
}

// The range of an axis: with some room, and not ending at twice the value of a line that is flat.
function yRange(low: number, high: number): [number, number] {
  if (low !== high || low === null) return uPlot.rangeNum(low, high, 0.1, true) as [number, number];
  const room = Math.abs(low) > 0 ? 0.1 * Math.abs(low) : 1;
  return [low - room, high + room];
}

// The sign of a line in front of its value or its name.
export function mark(line: { color: string; isDashed?: boolean }): HTMLElement {
  const sign = h("span", { class: line.isDashed ? "mark dashed" : "mark" });
  sign.style.color = drawn(line.color);
  return sign;
}

// A colour as the page has it. Black would not be seen on a dark one.
function drawn(color: string): string {
  const name = color === "#000000" ? "--black" : color;
  return name.startsWith("--") ? pageColor(name) : name;
}
