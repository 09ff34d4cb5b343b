// One run: its archive, the elite that was chosen, its curves, and all that is known of it.

import { Refusal, act, getJson, runPath, type Details, type Palette, type RunLine, type RunPulse } from "./api";
import { Archive, type ArchiveName, type Offer } from "./archive";
import { Curve } from "./curves";
import { h, select, table, visible } from "./dom";
import { failureTable, type Failure } from "./failures";
import { ElitePanel } from "./elite";
import { columnsOf, layersOf, pictureOf } from "./layers";
import { pill, progressBar } from "./list";
import { HeatMap } from "./map";
import { METRICS, Metrics, otherMetrics, valuesOf } from "./metrics";
import { brief, elapsed, grouped, percent, score, when } from "./numbers";
import { TimeSlider } from "./slider";
import { emitterTable, histogram, type Vitals } from "./vitals";
import type { View } from "./view";

export class RunView implements View {
  readonly element = h("section", { class: "run-page" }, h("p", { class: "muted" }, "Reading …"));
  title = "Run";
  private head = h("div", { class: "head" });
  private facts = h("dl", { class: "facts" });
  private chooser = h("div", { class: "tools" });
  private source = h("span", { class: "muted", role: "status" });
  private hover = h("span", { role: "status" });
  private durations = h("div");
  private emitters = h("div");
  private failures = h("div");
  private about = h("div");
  private curveBox = h("div", { class: "curves" });
  private curves = METRICS.map(([key, name]): [string, Curve] => [key, new Curve(name, "iteration")]);
  private map: HeatMap;
  private slider: TimeSlider;
  private vitals: Vitals | null = null;
  private panel: ElitePanel | null = null;
  private metrics: Metrics;
  private archive: Archive | null = null;
  // The columns of each archive, as the checkpoint has them.
  private offers: Partial<Record<ArchiveName, Offer[]>> = {};
  // What the chooser was drawn for.
  private chooserOf = "";
  private nPointMeasures = 0;
  private line: RunLine | null = null;
  private details: Details | null = null;
  private canAct = false;
  private known: RunPulse | null = null;
  private busy = false;
  private again = false;

  constructor(
    readonly run: string,
    private query: URLSearchParams,
    palette: Palette,
    private changed: (query: URLSearchParams) => void,
  ) {
    this.metrics = new Metrics(run);
    const pointed = (elite: number, place: string) => this.point(elite, place);
    this.map = new HeatMap(palette, pointed, (elite) => this.pick(elite));
    this.slider = new TimeSlider(run, this.at(), (iteration) => this.travel(iteration));
    void this.begin();
  }

  private async begin() {
    // The picture takes longest and is looked at first, so it is asked for before all the rest.
    this.archive = this.wantedArchive();
    this.archive.prepare();
    try {
      const found = await getJson<{ line: RunLine; details: Details; can_act: boolean }>(runPath(this.run));
      this.line = found.line;
      this.details = found.details;
      this.canAct = found.can_act;
    } catch (error) {
      this.element.replaceChildren(h("p", { class: "error" }, (error as Error).message), h("a", { href: "#/" }, "All runs"));
      return;
    }
    this.title = this.details.title;
    this.panel = new ElitePanel(this.run, this.details, this.canAct);
    this.element.replaceChildren(
      this.head,
      this.facts,
      h("div", { class: "card explorer" }, h("div", {}, this.chooser, this.map.element, h("div", { class: "under small" }, this.source, this.hover), this.slider.element), this.panel.element),
      this.curveBox,
      h("div", { class: "lists" }, h("div", {}, this.durations, this.about), h("div", {}, this.failures, this.emitters)),
    );
    // There is nothing to see before there is something.
    this.map.element.hidden = true;
    for (const [, curve] of this.curves) {
      curve.element.hidden = true;
      this.curveBox.append(curve.element);
    }
    this.drawHead();
    await this.refresh();
    void this.drawLists();
    void this.slider.update().then(() => this.drawPlaces());
    void this.refreshVitals();
    void this.panel.show(this.archiveName(), this.cell());
  }

  list(runs: RunLine[]) {
    const line = runs.find((run) => run.id === this.run);
    if (!line && this.line) this.source.textContent = "The folder of this run is not there any more.";
    if (!line || !this.details || JSON.stringify(line) === JSON.stringify(this.line)) return;
    const isOver = this.line && this.line.state !== line.state;
    this.line = line;
    this.drawHead();
    if (isOver) void this.drawLists();
  }

  pulse(pulse: RunPulse | null) {
    if (!pulse || !this.details) return;
    const isNew = JSON.stringify(pulse) !== JSON.stringify(this.known);
    // At the first pulse, too: what was fetched before it may be older.
    const isSaved = pulse.checkpoint !== this.known?.checkpoint;
    if (isSaved || pulse.failures !== this.known?.failures) void this.drawLists();
    // Elites are shown as of the newest checkpoint.
    if (isSaved) void this.panel?.show(this.archiveName(), this.cell());
    const isHistoryNew = pulse.history !== this.known?.history;
    if (isHistoryNew) void this.slider.update();
    if (isHistoryNew || pulse.live !== this.known?.live) void this.refreshVitals();
    this.known = pulse;
    if (pulse.metrics < this.metrics.length) this.metrics.forget();
    if (isNew) void this.refresh();
  }

  recolor() {
    this.map.draw();
    for (const [, curve] of this.curves) curve.redraw();
    this.panel?.recolor();
  }

  // Fetches what has changed, one request after the other.
  private async refresh() {
    if (this.busy) {
      this.again = true;
      return;
    }
    this.busy = true;
    try {
      const metrics = this.metrics.update();
      metrics.catch(() => {});
      await this.refreshArchive();
      if (await metrics) this.drawCurves();
    } catch (error) {
      // A folder may be deleted under the open page, and a server may be gone for a moment.
      this.source.textContent = `Nothing new: ${(error as Error).message}`;
    } finally {
      this.busy = false;
      this.element.dataset.ready = "true";
    }
    if (this.again) {
      this.again = false;
      void this.refresh();
    }
  }

  // The archive that the address asks for: the one at hand, if it is that.
  private wantedArchive(): Archive {
    const at = this.at();
    const name = at === null ? this.archiveName() : "result";
    const wanted = columnsOf(this.shownLayer(), this.nPointMeasures);
    const shown = this.archive;
    const isWanted = shown && shown.name === name && shown.at === at && String(shown.wanted) === String(wanted);
    return isWanted ? shown : new Archive(this.run, name, wanted, at);
  }

  private async refreshArchive(): Promise<void> {
    const at = this.at();
    const archive = (this.archive = this.wantedArchive());
    try {
      if (!(await archive.update()) || archive !== this.archive) return;
    } catch (error) {
      if (error instanceof Refusal && error.status === 400 && this.query.has("layer")) return this.forgetLayer();
      this.source.textContent = `No picture yet: ${(error as Error).message}`;
      return;
    }
    const head = archive.head!;
    // What an archive does not have is left out of its answer.
    if (at === null && this.query.has("layer") && archive.wanted.some((key) => !archive.columns.has(key))) return this.forgetLayer();
    if (head.kind === "points" && this.nPointMeasures !== head.measures.length) {
      // Elites without cells are drawn where they are.
      this.nPointMeasures = head.measures.length;
      return this.refreshArchive();
    }
    if (this.chooserOf !== this.chooserKey()) this.drawChooser();
    this.map.element.hidden = false;
    this.drawMap();
    const cell = this.cell();
    this.map.mark(cell === null ? -1 : (archive.elite(cell) ?? -1));
    this.map.element.dataset.iteration = String(head.iteration);
    this.map.element.dataset.source = head.source;
    this.map.element.dataset.elites = String(archive.nElites);
    const from = { live: "live, ", checkpoint: "newest checkpoint, ", history: at === null ? "from the history, " : "as it was, " }[head.source];
    this.source.textContent = `${grouped(archive.nElites)} elites; ${from}iteration ${grouped(head.iteration)}`;
  }

  // The link asks for a layer that this archive does not have.
  private forgetLayer(): Promise<void> {
    this.query.delete("layer");
    this.changed(this.query);
    this.chooserOf = "";
    return this.refreshArchive();
  }

  private drawMap() {
    if (!this.archive?.head) return;
    const layer = this.shownLayer();
    const label = this.layers().find(({ key }) => key === layer)?.label ?? layer;
    this.map.show(pictureOf(this.archive, layer, label), this.axes());
  }

  // The layers of the archive; without a checkpoint, those that a running process reports.
  private layers(): Offer[] {
    const reported = [{ key: "objective", label: this.details!.labels.objective }];
    if (this.archiveName() === "search") reported.push({ key: "threshold", label: "threshold" });
    return layersOf(this.offers[this.archiveName()] ?? reported);
  }

  private archiveName(): ArchiveName {
    return this.query.get("archive") === "search" ? "search" : "result";
  }

  private layer(): string {
    return this.query.get("layer") ?? "objective";
  }

  // The past holds objectives of the result archive.
  private shownLayer(): string {
    return this.at() === null ? this.layer() : "objective";
  }

  private cell(): number | null {
    const text = this.query.get("cell");
    return text !== null && /^\d+$/.test(text) ? Number(text) : null;
  }

  private at(): number | null {
    const text = this.query.get("at");
    return text !== null && /^\d+$/.test(text) ? Number(text) : null;
  }

  private travel(iteration: number | null) {
    if (iteration === null) this.query.delete("at");
    else this.query.set("at", String(iteration));
    this.changed(this.query);
    this.drawPlaces();
    void this.refresh();
  }

  private axes(): [number, number] {
    const n = this.archive?.head?.measures.length ?? 2;
    const [x, y] = (this.query.get("axes") ?? "0,1").split(",").map(Number);
    const isMeasure = (i: number) => Number.isInteger(i) && i >= 0 && i < n;
    return isMeasure(x) && isMeasure(y) && x !== y ? [x, y] : [0, Math.min(1, n - 1)];
  }

  private set(key: string, value: string) {
    this.query.set(key, value);
    this.changed(this.query);
    void this.refresh();
  }

  private chooserKey(): string {
    return `${this.archiveName()}/${this.archive?.head?.measures.length}/${this.at() === null}`;
  }

  private drawChooser() {
    this.chooserOf = this.chooserKey();
    const names: [string, string][] = this.layers().map(({ key, label }) => [key, label]);
    const archives: [string, string][] = [["result", "everything found (result)"], ["search", "searched by the emitters"]];
    const ofNow = [
      select("Colour ", names, this.shownLayer(), (value) => this.set("layer", value)),
      select("Archive ", archives, this.at() === null ? this.archiveName() : "result", (value) => {
        // Each archive has layers of its own.
        this.query.delete("layer");
        this.archive = null;
        this.set("archive", value);
      }),
    ];
    // The past holds one layer of one archive.
    for (const label of ofNow) label.querySelector("select")!.disabled = this.at() !== null;
    this.chooser.replaceChildren(...ofNow, this.placesBox());
    const measures = this.archive?.head?.measures ?? [];
    if (measures.length <= 2) return;
    const options = measures.map((measure, i): [string, string] => [String(i), measure.name]);
    const [x, y] = this.axes();
    const choose = (which: 0 | 1) => (value: string) => {
      const axes: [number, number] = [x, y];
      const other = axes[which];
      axes[which] = Number(value);
      if (axes[0] === axes[1]) axes[1 - which] = other;
      this.archive = null;
      this.query.set("axes", axes.join(","));
      this.changed(this.query);
      void this.refresh().then(() => this.drawChooser());
    };
    this.chooser.append(h("span", { class: "pair" }, select("Across ", options, String(x), choose(0)), select("Up ", options, String(y), choose(1))));
  }

  // Whether the discs of emitters are shown.
  private placesBox(): HTMLElement {
    const box = h("input", {
      type: "checkbox",
      onchange: () => {
        if (box.checked) this.query.delete("emitters");
        else this.query.set("emitters", "hidden");
        this.changed(this.query);
        this.drawPlaces();
      },
    });
    box.checked = !this.hidesPlaces();
    return h("label", { class: "choice" }, box, "Emitters");
  }

  private hidesPlaces(): boolean {
    return this.query.get("emitters") === "hidden";
  }

  private point(elite: number, place: string) {
    if (!place || !this.archive) this.hover.textContent = "";
    else if (elite < 0) this.hover.textContent = `${place} is empty`;
    else {
      const objective = score(this.archive.column("objective")[elite], 6);
      const layer = this.layer();
      const label = this.layers().find(({ key }) => key === layer)?.label ?? layer;
      const own = layer !== "objective" && this.archive.columns.has(layer) ? `, ${label} ${score(this.archive.column(layer)[elite], 6)}` : "";
      this.hover.textContent = visible(`${place}: ${this.archive.head!.objective} ${objective}${own}`);
    }
  }

  private pick(elite: number) {
    if (!this.archive || elite < 0) return this.panel?.hint("This cell is empty.");
    const cell = this.archive.cells[elite];
    this.query.set("cell", String(cell));
    this.changed(this.query);
    void this.panel?.show(this.archiveName(), cell);
  }

  private async refreshVitals() {
    this.vitals = await getJson<Vitals>(`${runPath(this.run)}/vitals`).catch(() => this.vitals);
    if (!this.vitals) return;
    this.drawPlaces();
    const { emitters, durations, workers } = this.vitals;
    const { measures } = this.details!.labels;
    if (durations.length) this.durations.replaceChildren(card("Durations of evaluations", workersLine(this.details!, workers), histogram(durations)));
    if (emitters.length) this.emitters.replaceChildren(card("Emitters", emitterTable(emitters, measures, this.line?.evaluations ?? 0)));
  }

  // Where the emitters are now, or were at the moment that is shown.
  private drawPlaces() {
    const then = this.slider.moment?.places;
    const now = this.vitals?.emitters.map(({ place }) => place) ?? [];
    const places = this.at() === null ? now : (then ?? []);
    this.map.showPlaces(this.hidesPlaces() ? [] : places);
  }

  private drawHead() {
    const line = this.line!;
    const tools = h("div", { class: "buttons" });
    if (this.canAct && line.state === "running") tools.append(this.action("stop", "Stop", "asked to stop"));
    if (this.canAct && ["interrupted", "failed", "created"].includes(line.state)) tools.append(this.action("resume", "Resume", "resuming"));
    const cause = line.cause ? h("pre", { class: "error" }, line.cause) : null;
    this.head.replaceChildren(h("h1", {}, this.details!.title), h("p", { class: "row" }, pill(line), progressBar(line), h("span", { class: "muted" }, line.name), tools));
    if (cause) this.head.append(cause);
    const facts: [string, string][] = [
      ["QD score", score(line.qd_score)],
      ["Coverage", line.has_limit === false ? "no limit" : percent(line.coverage)],
      ["Best", score(line.best)],
      ["Elites", line.has_limit === false ? grouped(line.elites) : `${grouped(line.elites)} of ${grouped(line.cells)}`],
      ["Evaluations", grouped(line.evaluations)],
      ["Evals/s", brief(line.rate)],
      ["Iteration", `${grouped(line.iterations)} of ${grouped(line.iterations_wanted)}`],
      ["Restarts", grouped(line.restarts)],
      ["Failures", grouped(line.invalid)],
      ["Time", elapsed(line.seconds)],
    ];
    this.facts.replaceChildren(...facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
  }

  private action(path: string, label: string, done: string): HTMLElement {
    const button = h("button", { type: "button" }, label);
    button.addEventListener("click", async () => {
      button.disabled = true;
      try {
        await act(`${runPath(this.run)}/${path}`);
        button.textContent = done;
      } catch (error) {
        button.textContent = (error as Error).message;
      }
    });
    return button;
  }

  private drawCurves() {
    const x = this.metrics.column("iteration").map((value) => value ?? 0);
    for (const [key, name] of otherMetrics(this.metrics)) {
      if (this.curves.some(([known]) => known === key)) continue;
      const curve = new Curve(name, "iteration");
      this.curves.push([key, curve]);
      this.curveBox.append(curve.element);
    }
    for (const [key, curve] of this.curves) {
      const values = valuesOf(this.metrics, key);
      const isEmpty = !values.some((value) => value !== null && (value !== 0 || !["restarts", "invalid"].includes(key)));
      // An archive that cannot be full has no coverage, and its QD score is the sum.
      const isOther = this.line?.has_limit === false ? ["coverage", "qd_score"].includes(key) : key === "qd_score_sum";
      curve.element.hidden = isEmpty || isOther;
      if (!isEmpty) curve.show(x, [{ name: curve.title, color: "--accent", values }]);
    }
    const n = this.curves.filter(([, curve]) => !curve.element.hidden).length;
    this.curveBox.classList.toggle("dense", n > 6);
  }

  private async drawLists() {
    const details = this.details!;
    const { manifest } = details;
    const about: [string, string | HTMLElement][] = [
      ["Folder", details.folder],
      ["Begun", when(manifest.created_unix)],
      ["Version", `Luminary ${manifest.versions.luminary}, checkpoints ${manifest.versions.checkpoint}`],
      ["Machine", `${manifest.host.os} ${manifest.host.arch}, ${manifest.host.threads} threads`],
    ];
    if (details.command) about.unshift(["Evaluator", details.command]);
    if (manifest.command?.length) about.unshift(["Command", commandLine(manifest.command)]);
    for (const choice of manifest.choices ?? []) about.push(["Chosen", choice]);
    this.about.replaceChildren(card("What was run", table(["", ""], about), settings(manifest.config)));
    const [failures, saved] = await Promise.all([
      getJson<Failure[]>(`${runPath(this.run)}/failures`).catch(() => []),
      getJson<{ offers: Record<ArchiveName, Offer[]> }>(`${runPath(this.run)}/saved`).catch(() => null),
    ]);
    if (saved && JSON.stringify(saved.offers) !== JSON.stringify(this.offers)) {
      this.offers = saved.offers;
      this.drawChooser();
      // A link may have asked for a layer before it was known what it is called.
      this.drawMap();
    }
    if (failures.length) this.failures.replaceChildren(card("Evaluations without a value", failureTable(failures, details.failures_by_cause)));
  }
}

function card(title: string, ...children: HTMLElement[]): HTMLElement {
  return h("section", { class: "card" }, h("h2", {}, title), ...children);
}

// A command as a shell takes it, broken between words only.
function commandLine(words: string[]): HTMLElement {
  return h("span", {}, ...words.flatMap((word) => [h("span", { class: "word" }, quoted(String(word))), " "]));
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

// Who evaluates.
function workersLine(details: Details, workers: number | null): HTMLElement {
  const { problem, run } = details.manifest.config;
  const evaluator = problem.external?.evaluator;
  const n = workers ?? evaluator?.workers ?? null;
  const hosts: string[] = (evaluator?.hosts ?? []).map((host: any) => host.name ?? String(host));
  const where = hosts.length ? ` on ${hosts.join(", ")}` : "";
  const text = n === null ? `In this process, ${run.threads} thread${run.threads === 1 ? "" : "s"}.` : `${n} worker${n === 1 ? "" : "s"}${where}.`;
  return h("p", { class: "muted small workers" }, text);
}

// All settings as `section.key = value`, a line each, behind a fold.
function settings(config: any): HTMLElement {
  const lines: string[] = [];
  const flatten = (path: string, value: any) => {
    const isSection = value !== null && typeof value === "object" && !Array.isArray(value) && Object.keys(value).length;
    if (!isSection) lines.push(`${path} = ${JSON.stringify(value)}`);
    else for (const key of Object.keys(value)) flatten(path ? `${path}.${key}` : key, value[key]);
  };
  flatten("", config);
  return h("details", {}, h("summary", {}, "All settings"), h("pre", {}, lines.join("\n")));
}
