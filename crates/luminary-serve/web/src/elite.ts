// One elite: its numbers and its solution, to copy and to have drawn.

import { act, getJson, runPath, type Details, type Elite } from "./api";
import type { ArchiveName } from "./archive";
import { h, pageColor, table } from "./dom";
import { drawn } from "./drawn";
import { grouped, score } from "./numbers";

const MAX_VALUES = 1000;

export class ElitePanel {
  readonly element = h("div", { class: "elite" });
  private request = 0;
  // What the panel was drawn for.
  private shown = "";
  private redrawBars = () => {};

  constructor(
    private run: string,
    private details: Details,
    private canAct: boolean,
  ) {}

  // Says what is known of a cell without asking the server.
  hint(text: string) {
    this.shown = "";
    this.element.replaceChildren(h("p", { class: "muted lines" }, text));
  }

  async show(archive: ArchiveName, cell: number | null) {
    const request = ++this.request;
    const query = new URLSearchParams({ archive });
    if (cell !== null) query.set("cell", String(cell));
    let found: { iteration: number; elite: Elite; json: string };
    try {
      found = await getJson(`${runPath(this.run)}/elite?${query}`);
    } catch (error) {
      if (request === this.request) this.hint((error as Error).message);
      return;
    }
    // Only the newest question counts, and an elite that is shown already stays, with the picture that was drawn of it.
    const shown = JSON.stringify([found.json, found.iteration, cell === null]);
    if (request !== this.request || shown === this.shown) return;
    this.draw(found.elite, found.json, found.iteration, cell === null);
    this.shown = shown;
  }

  // Draws what has colours of the page anew.
  recolor() {
    this.redrawBars();
  }

  private draw(elite: Elite, json: string, iteration: number, isBest: boolean) {
    const { labels } = this.details;
    const place = elite.intervals ? `Cell (${elite.intervals.join(", ")})` : `Cell ${elite.cell}`;
    const rows: [string, string][] = [[labels.objective, score(elite.objective, 8)]];
    elite.measures.forEach((value, i) => rows.push([labels.measures[i] ?? `measure ${i}`, score(value, 8)]));
    if (elite.threshold !== null) rows.push(["threshold", score(elite.threshold, 8)]);
    if (elite.visits !== null) rows.push(["visits", grouped(elite.visits)]);
    for (const [name, value] of Object.entries(elite.extras)) {
      rows.push([name, Array.isArray(value) ? value.map((part) => score(part, 5)).join(", ") : score(value, 8)]);
    }
    rows.push(["cell", String(elite.cell)], ["checkpoint", `iteration ${grouped(iteration)}`]);
    const numpy = `np.array([${elite.solution.map((value) => value ?? "np.nan").join(", ")}])`;
    const buttons = h("div", { class: "buttons" }, copyButton("Copy JSON", json), copyButton("Copy NumPy", numpy));
    const picture = h("div", { class: "replay" });
    if (this.details.can_render && this.canAct) {
      buttons.append(h("button", { type: "button", onclick: () => this.replay(elite.cell, picture) }, "Draw"));
    } else if (this.details.can_render) {
      picture.append(h("p", { class: "muted small" }, "A server with --control draws it by the run's own command."));
    }
    const bars = h("canvas", { class: "bars", role: "img", "aria-label": "Values of the solution as bars" });
    this.element.replaceChildren(
      h("h3", {}, isBest ? `Best elite: ${place}` : place),
      table(["", ""], rows),
      h("div", { class: "row" }, h("h3", {}, `Solution (${elite.solution.length})`), buttons),
      picture,
      bars,
      this.values(elite.solution),
    );
    this.element.dataset.cell = String(elite.cell);
    this.redrawBars = () => drawBars(bars, elite.solution);
    this.redrawBars();
  }

  private values(solution: (number | null)[]): HTMLElement {
    const names = this.details.labels.components ?? [];
    const list = h("ol", { class: names.length ? "values named" : "values", tabindex: 0, "aria-label": "Values of the solution" });
    solution.slice(0, MAX_VALUES).forEach((value, i) => {
      const name = names[i] ?? `x${i}`;
      list.append(h("li", {}, h("span", { title: name }, name), score(value, 6)));
    });
    if (solution.length > MAX_VALUES) list.append(h("li", {}, `… ${solution.length - MAX_VALUES} more`));
    return list;
  }

  // Shows what the run's own command makes of the elite: a picture, an animation, or text.
  private async replay(cell: number, place: HTMLElement) {
    place.replaceChildren(h("p", { class: "muted", role: "status" }, "Drawing …"));
    try {
      const response = await act(`${runPath(this.run)}/replay?cell=${cell}`);
      place.replaceChildren(drawn(await response.arrayBuffer(), cell));
    } catch (error) {
      place.replaceChildren(h("pre", { class: "error" }, (error as Error).message));
    }
  }
}

function copyButton(label: string, text: string): HTMLElement {
  const button = h("button", { type: "button" }, label);
  const say = (word: string) => {
    button.textContent = word;
    setTimeout(() => (button.textContent = label), 1500);
  };
  button.addEventListener("click", () => {
    if (!navigator.clipboard) return say("No clipboard");
    navigator.clipboard.writeText(text).then(() => say("Copied"), () => say("Not allowed"));
  });
  return button;
}

function drawBars(canvas: HTMLCanvasElement, values: (number | null)[]) {
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  canvas.width = Math.max(1, Math.round(canvas.clientWidth * ratio));
  canvas.height = Math.max(1, Math.round(canvas.clientHeight * ratio));
  const context = canvas.getContext("2d")!;
  let [low, high] = [0, 0];
  for (const value of values) if (value !== null) [low, high] = [Math.min(low, value), Math.max(high, value)];
  const scale = high > low ? (canvas.height - 2) / (high - low) : 0;
  const zero = 1 + high * scale;
  const width = canvas.width / values.length;
  const gap = width > 5 * ratio ? ratio : 0;
  context.fillStyle = pageColor("--accent");
  values.forEach((value, i) => {
    if (value === null) return;
    context.fillRect(i * width, zero - Math.max(value, 0) * scale, Math.max(width - gap, 0.7), Math.abs(value) * scale);
  });
  context.fillStyle = pageColor("--muted");
  context.fillRect(0, zero - ratio / 2, canvas.width, ratio);
}
