// Several runs: curves with bands over seeds, distributions, a difference map, and a table with significance.

import type { Palette, RunLine } from "./api";
import { Archive } from "./archive";
import { Curve, mark, type Line } from "./curves";
import { difference, type Difference } from "./difference";
import { h, select, table } from "./dom";
import { HeatMap } from "./map";
import { METRICS, Metrics, valuesOf } from "./metrics";
import { grouped, percent, score } from "./numbers";
import { estimate, mannWhitney } from "./stats";
import type { View } from "./view";

interface Group {
  name: string;
  runs: RunLine[];
}

type Show = (value: number) => string;

// Figures with how a mean and its standard error are written.
const FINAL: [keyof RunLine, string, Show, Show][] = [
  ["qd_score", "QD score", score, (value) => score(value, 2)],
  ["coverage", "Coverage", percent, (value) => score(100 * value, 2)],
  ["best", "Best", score, (value) => score(value, 2)],
  ["evaluations", "Evaluations", grouped, grouped],
];

export class CompareView implements View {
  readonly element = h("section", { class: "run-page" }, h("p", { class: "muted" }, "Reading …"));
  readonly run = null;
  title = "Comparison";
  private begun = false;
  private curves = METRICS.slice(0, 5).map(([key, name]): [string, Curve] => [key, new Curve(name, "iteration")]);
  private ccdf = new Curve("Share of cells at least this good", "objective", "nothing");
  private results = h("div");
  private mapBox = h("div", { class: "card" });
  private map: HeatMap;
  private groups: Group[] = [];
  // What all groups have in common.
  private common = "";

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
    [this.groups, this.common] = groupsOf(chosen);
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
      h("div", { class: "head" }, h("h1", {}, `${chosen.length} runs`), h("p", { class: "row muted" }, this.common)),
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

  // More groups than colours are dashed.
  private style(i: number): { name: string; color: string; isDashed: boolean } {
    const { series } = this.palette;
    return { name: this.groups[i].name, color: series[i % series.length], isDashed: i >= series.length };
  }

  private drawTable() {
    const first = this.groups[0];
    const values = (group: Group, key: keyof RunLine) =>
      group.runs.map((run) => run[key]).filter((value): value is number => typeof value === "number");
    const rows = this.groups.map((group, i) => {
      const cells = FINAL.map(([key, , mean, error]) => {
        const found = estimate(values(group, key));
        return found ? `${mean(found.mean)}${found.n > 1 && found.error > 0 ? ` ± ${error(found.error)}` : ""}` : "–";
      });
      const p = group === first ? null : mannWhitney(values(first, "qd_score"), values(group, "qd_score"));
      const verdict = group === first ? "reference" : p === null ? "–" : `p = ${score(p, 2)}${p < 0.05 ? " *" : ""}`;
      return [h("span", {}, mark(this.style(i)), group.name), String(group.runs.length), ...cells, verdict];
    });
    this.results.replaceChildren(
      table(["Setting", "Runs", ...FINAL.map(([, name]) => name), "QD score against the first"], rows, "numbers"),
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
        const line: Line = { ...this.style(i), values };
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
      return { ...this.style(i), values: x.map((_, at) => estimate(shares.map((one) => one[at]))?.mean ?? null) };
    });
    this.ccdf.show(x, lines);
  }

  // The difference of two archives with the same cells: where each is better.
  private async drawMap(chosen: RunLine[]) {
    const options = chosen.map((run): [string, string] => [run.id, run.name]);
    const [first, second] = this.groups;
    const other = second?.runs[0] ?? first.runs[1] ?? first.runs[0];
    const pair = (this.query.get("diff") ?? `${first.runs[0].id},${other.id}`).split(",");
    const choose = (i: number) => (value: string) => {
      pair[i] = value;
      this.query.set("diff", pair.join(","));
      this.changed(this.query);
      void this.drawMap(chosen);
    };
    const [a, b] = await Promise.all(pair.map(read));
    const title = h("h2", {}, "Difference of two archives");
    const tools = h("div", { class: "tools" }, select("Orange where ", options, pair[0], choose(0)), select("is better, blue where ", options, pair[1], choose(1)));
    const found = a && b ? difference(a, b) : null;
    if (!found) {
      this.mapBox.replaceChildren(title, tools, h("p", { class: "muted small", role: "status" }, "These archives have different cells."));
      return;
    }
    this.mapBox.replaceChildren(title, tools, h("div", { class: "explorer" }, this.map.element, differenceTable(found)));
    this.map.show(found.picture, [0, Math.min(1, found.picture.measures.length - 1)]);
  }
}

function differenceTable({ picture, nBetter, nWorse, nOnlyHere, nOnlyThere, mean }: Difference): HTMLElement {
  const rows: [string, string][] = [
    ["cells are filled in both", grouped(picture.nElites)],
    ["the first is better", grouped(nBetter)],
    ["the second is better", grouped(nWorse)],
    ["both are as good", grouped(picture.nElites - nBetter - nWorse)],
    ["mean difference", score(mean, 4)],
    ["cells only the first has filled", grouped(nOnlyHere)],
    ["cells only the second has filled", grouped(nOnlyThere)],
  ];
  return h("div", { role: "status" }, table(["", ""], rows, "numbers"));
}

async function read(id: string): Promise<Archive | null> {
  const archive = new Archive(id, "result", ["objective"]);
  return archive.update().then(() => archive, () => null);
}

// Runs that differ in their seed only belong together. Groups are called by what they differ in; what they have in common
// comes beside them.
function groupsOf(runs: RunLine[]): [Group[], string] {
  const groups = new Map<string, { parts: string[]; runs: RunLine[] }>();
  for (const run of runs) {
    const varied = run.group ? run.name.slice(run.group.length + 1).replace(/,?seed=\d+(-\d+)?$/, "") : "";
    const algorithm = varied.includes(`preset=${run.algorithm}`) ? "" : run.algorithm!;
    const parts = [algorithm, run.problem!, varied].filter(Boolean);
    const group = groups.get(parts.join()) ?? { parts, runs: [] };
    group.runs.push(run);
    groups.set(parts.join(), group);
  }
  const all = [...groups.values()];
  const isCommon = (part: string) => all.every(({ parts }) => parts.includes(part));
  const name = (parts: string[]) => (all.length > 1 ? parts.filter((part) => !isCommon(part)) : parts).join(", ");
  const named = all.map(({ parts, runs }) => ({ name: name(parts) || parts.join(", "), runs }));
  return [named, all.length > 1 ? all[0].parts.filter(isCommon).join(", ") : ""];
}

// The values of a log at these iterations; the last one before, and nothing behind the end.
function aligned(log: Metrics, key: string, x: number[]): (number | null)[] {
  const [iterations, values] = [log.column("iteration"), valuesOf(log, key)];
  let k = -1;
  return x.map((at) => {
    while (k + 1 < iterations.length && (iterations[k + 1] ?? Infinity) <= at) k++;
    return k < 0 || at > (iterations.at(-1) ?? -1) ? null : values[k];
  });
}

