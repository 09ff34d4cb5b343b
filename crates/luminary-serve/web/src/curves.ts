// Curves of metrics: uPlot with the page's colours, zoom by dragging and values under the pointer.

import uPlot from "uplot";
import { format } from "../../../luminary-plot/assets/shared/numbers.js";
import { h, pageColor } from "./dom";

export interface Line {
  name: string;
  color: string;
  values: (number | null)[];
  // Lower and upper edge of a band, if the line is a mean of several.
  band?: [(number | null)[], (number | null)[]];
}

const FONT = '12px "Luminary Sans", Inter, Arial, sans-serif';

export class Curve {
  readonly element: HTMLElement;
  private box = h("div", { class: "curve" });
  private plot: uPlot | null = null;
  private data: [number[], Line[]] = [[], []];
  private key = "";

  constructor(
    readonly title: string,
    private xName: string,
  ) {
    this.element = h("figure", { class: "card" }, h("figcaption", {}, title), this.box);
    new ResizeObserver(() => {
      if (this.plot && this.box.clientWidth > 50) this.plot.setSize({ width: this.box.clientWidth, height: 190 });
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
  }

  // Draws anew, for other colours of the page.
  redraw() {
    const [x, lines] = this.data;
    this.key = "";
    if (lines.length) this.show(x, lines);
  }

  private isWhole(): boolean {
    const { min, max } = this.plot!.scales.x;
    const x = this.plot!.data[0];
    return min === undefined || max === undefined || x.length < 2 || (min <= x[0] && max >= x[x.length - 1]);
  }

  private make(columns: uPlot.AlignedData) {
    this.plot?.destroy();
    const series: uPlot.Series[] = [{ label: this.xName, value: (_, value) => (value === null ? "" : format(value, 6)) }];
    const bands: uPlot.Band[] = [];
    for (const { color: own, ...line } of this.data[1]) {
      // Black would not be seen on a dark page.
      const color = own === "#000000" ? pageColor("--black") : own;
      const value = (_: uPlot, value: number | null) => (value === null ? "–" : format(value, 5));
      if (line.band) {
        const edge = { stroke: "transparent", width: 0, points: { show: false }, label: "" };
        series.push({ ...edge, class: "edge" } as uPlot.Series, { ...edge, class: "edge" } as uPlot.Series);
        bands.push({ series: [series.length - 1, series.length - 2], fill: `${color}33` });
      }
      series.push({ label: line.name, stroke: color, width: 1.75, points: { show: false }, spanGaps: true, value });
    }
    const axis: uPlot.Axis = {
      stroke: pageColor("--muted"),
      grid: { stroke: pageColor("--faint"), width: 1 },
      ticks: { stroke: pageColor("--line"), width: 1, size: 4 },
      font: FONT,
      values: (_, splits) => splits.map((value) => (value === null ? "" : format(value, 4))),
    };
    const options: uPlot.Options = {
      width: Math.max(200, this.box.clientWidth),
      height: 190,
      series,
      bands,
      axes: [{ ...axis, space: 70 }, { ...axis, size: 58 }],
      scales: { x: { time: false } },
      cursor: { points: { size: 6 }, drag: { x: true, y: false } },
      legend: { live: true },
    };
    this.plot = new uPlot(options, columns, this.box);
  }
}
