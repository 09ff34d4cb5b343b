// Several runs: curves with bands over seeds, distributions, a difference map, and a table with significance.

import type { Palette, RunLine } from "./api";
import { Archive } from "./archive";
import { Curve, type Line } from "./curves";
import { h, select, table } from "./dom";
import { pictureOf } from "./layers";
import { HeatMap, type Picture } from "./map";
import { METRICS, Metrics } from "./metrics";
import { score } from "./numbers";
import { estimate, mannWhitney } from "./stats";
import type { View } from "./view";

interface Group {
  name: string;
  runs: RunLine[];
}

const FINAL: [keyof RunLine, string][] = [
  ["qd_score", "QD score"],
  ["coverage", "Coverage"],
  ["best", "Best"],
  ["evaluations", "Evaluations"],
];

export class CompareView implements View {
  readonly element = h("section", { class: "run-page" }, h("p", { class: "muted" }, "Reading …"));
  readonly run = null;
  title = "Comparison";
  private begun = false;
  private curves = METRICS.slice(0, 4).map(([key, name]): [string, Curve] => [key, new Curve(name, "iteration")]);
  private ccdf = new Curve("Share of cells at least this good", "objective");
  private results = h("div");
  private mapBox = h("div", { class: "card" });
  private map: HeatMap;
  private groups: Group[] = [];

  constructor(
    private query: URLSearchParams,
    private palette: Palette,
    private changed: (query: URLSearchParams) => void,
  ) {
    this.map = new HeatMap(palette, () => {}, () => {});
  }

  list(runs: RunLine[]) {
    const wanted = (this.query.get("runs") ?? "").split(",").filter(Boolean);
    const chosen = wanted.flatMap((id) => runs.filter((run) => run.id === id && run.problem));
    if (!chosen.length) {
      this.element.replaceChildren(h("p", {}, "None of the runs of this link is here."), h("a", { href: "#/" }, "All runs"));
      return;
    }
    this.groups = groupsOf(chosen);
    if (!this.begun) void this.begin(chosen);
    this.drawTable();
  }

  recolor() {
    this.map.draw();
    for (const [, curve] of this.curves) curve.redraw();
    this.ccdf.redraw();
  }

  private async begin(chosen: RunLine[]) {
    this.begun = true;
    this.element.replaceChildren(
      h("div", { class: "head" }, h("h1", {}, `${chosen.length} runs`)),
      h("section", { class: "card" }, h("h2", {}, "Final figures"), this.results),
      h("div", { class: "curves" }, ...this.curves.map(([, curve]) => curve.element), this.ccdf.element),
      this.mapBox,
    );
    const metrics = new Map<string, Metrics>();
    await Promise.all(
      chosen.map(async (run) => {
        const log = new Metrics(run.id);
        await log.update().catch(() => false);
        metrics.set(run.id, log);
      }),
    );
    this.drawCurves(metrics);
    await this.drawMap(chosen);
    const archives = await Promise.all(chosen.map((run) => read(run.id)));
    this.drawCcdf(new Map(chosen.map((run, i) => [run.id, archives[i]])));
    this.element.dataset.ready = "true";
  }

  private color(i: number): string {
    return this.palette.series[i % this.palette.series.length];
  }

  private drawTable() {
    const first = this.groups[0];
    const values = (group: Group, key: keyof RunLine) =>
      group.runs.map((run) => run[key]).filter((value): value is number => typeof value === "number");
    const rows = this.groups.map((group, i) => {
      const mark = h("span", { class: "mark" });
      mark.style.background = this.color(i);
      const cells = FINAL.map(([key]) => {
        const found = estimate(values(group, key));
        return found ? `${score(found.mean)}${found.n > 1 ? ` ± ${score(found.error, 2)}` : ""}` : "–";
      });
      const p = group === first ? null : mannWhitney(values(first, "qd_score"), values(group, "qd_score"));
      const verdict = group === first ? "reference" : p === null ? "–" : `p = ${score(p, 2)}${p < 0.05 ? " *" : ""}`;
      return [h("span", {}, mark, group.name), String(group.runs.length), ...cells, verdict];
    });
    this.results.replaceChildren(
      table(["Setting", "Runs", ...FINAL.map(([, name]) => name), "QD score against the first"], rows),
      h("p", { class: "muted small" }, "Means with standard errors over seeds; Mann–Whitney U test, two-sided. * below 0.05."),
    );
  }

  private drawCurves(metrics: Map<string, Metrics>) {
    const iterations = [...metrics.values()].flatMap((log) => log.column("iteration").map((value) => value ?? 0));
    const x = [...new Set(iterations)].sort((a, b) => a - b);
    for (const [key, curve] of this.curves) {
      const lines = this.groups.map((group, i): Line => {
        const tracks = group.runs.map((run) => aligned(metrics.get(run.id)!, key, x));
        const found = x.map((_, at) => estimate(tracks.map((track) => track[at])));
        const values = found.map((one) => one && one.mean);
        const line: Line = { name: group.name, color: this.color(i), values };
        if (group.runs.length > 1) line.band = [found.map((one) => one && one.mean - one.error), found.map((one) => one && one.mean + one.error)];
        return line;
      });
      curve.show(x, lines);
    }
  }

  private drawCcdf(archives: Map<string, Archive | null>) {
    const N = 120;
    const all = [...archives.values()].flatMap((archive) => (archive ? [archive.column("objective")] : []));
    let [low, high] = [Infinity, -Infinity];
    for (const values of all) for (const value of values) if (Number.isFinite(value)) [low, high] = [Math.min(low, value), Math.max(high, value)];
    if (!(high > low)) return;
    const x = Array.from({ length: N }, (_, i) => low + ((high - low) * i) / (N - 1));
    const share = (archive: Archive) => {
      const values = archive.column("objective").slice().sort();
      const isLower = archive.head!.minimise;
      const n = archive.head!.kind === "points" ? archive.nElites : archive.head!.n_cells;
      let k = 0;
      return x.map((at) => {
        while (k < values.length && values[k] < at) k++;
        return (isLower ? k : values.length - k) / Math.max(1, n);
      });
    };
    const lines = this.groups.map((group, i): Line => {
      const shares = group.runs.flatMap((run) => (archives.get(run.id) ? [share(archives.get(run.id)!)] : []));
      return { name: group.name, color: this.color(i), values: x.map((_, at) => estimate(shares.map((one) => one[at]))?.mean ?? null) };
    });
    this.ccdf.show(x, lines);
  }

  // The difference of two archives with the same cells: where each is better.
  private async drawMap(chosen: RunLine[]) {
    const options = chosen.map((run): [string, string] => [run.id, run.name]);
    const pair = (this.query.get("diff") ?? `${chosen[0].id},${(chosen[1] ?? chosen[0]).id}`).split(",");
    const choose = (i: number) => (value: string) => {
      pair[i] = value;
      this.query.set("diff", pair.join(","));
      this.changed(this.query);
      void this.drawMap(chosen);
    };
    const [a, b] = await Promise.all(pair.map(read));
    const title = h("h2", {}, "Difference of two archives");
    const tools = h("div", { class: "tools" }, select("Orange where ", options, pair[0], choose(0)), select("is better, blue where ", options, pair[1], choose(1)));
    const picture = a && b ? difference(a, b) : null;
    const text = picture ? `${picture.nElites} cells are filled in both` : "These archives have different cells.";
    const note = h("p", { class: "muted small", role: "status" }, text);
    this.mapBox.replaceChildren(title, tools, ...(picture ? [this.map.element] : []), note);
    if (picture) this.map.show(picture, [0, Math.min(1, picture.measures.length - 1)]);
  }
}

async function read(id: string): Promise<Archive | null> {
  const archive = new Archive(id, "result", ["objective"]);
  return archive.update().then(() => archive, () => null);
}

// Objectives of one archive minus those of another, where both have an elite.
function difference(a: Archive, b: Archive): Picture | null {
  const [one, other] = [a.head, b.head];
  const shape = (head: typeof one) => head && JSON.stringify([head.kind, head.resolution, head.n_cells, head.measures]);
  if (!one || !other || one.kind === "points" || shape(one) !== shape(other)) return null;
  const cells: number[] = [];
  const values: number[] = [];
  const [x, y] = [a.column("objective"), b.column("objective")];
  for (let i = 0; i < a.nElites; i++) {
    const place = b.elite(a.cells[i]);
    if (place === undefined) continue;
    cells.push(a.cells[i]);
    values.push(one.minimise ? y[place] - x[i] : x[i] - y[place]);
  }
  const own = Float64Array.from(values);
  return { ...pictureOf(a, "objective", "difference"), nElites: cells.length, cells, values: own, objectives: own, flipped: false, diverging: true };
}

// Runs that differ in their seed only belong together.
function groupsOf(runs: RunLine[]): Group[] {
  const groups = new Map<string, Group>();
  for (const run of runs) {
    const varied = run.group ? run.name.slice(run.group.length + 1).replace(/,?seed=\d+(-\d+)?$/, "") : "";
    const name = [run.algorithm, run.problem, varied].filter(Boolean).join(", ");
    const group = groups.get(name) ?? { name, runs: [] };
    group.runs.push(run);
    groups.set(name, group);
  }
  return [...groups.values()];
}

// The values of a log at these iterations; the last one before, and nothing behind the end.
function aligned(log: Metrics, key: string, x: number[]): (number | null)[] {
  const [iterations, values] = [log.column("iteration"), log.column(key)];
  let k = -1;
  return x.map((at) => {
    while (k + 1 < iterations.length && (iterations[k + 1] ?? Infinity) <= at) k++;
    return k < 0 || at > (iterations.at(-1) ?? -1) ? null : values[k];
  });
}

