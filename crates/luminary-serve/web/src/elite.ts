// One elite: its numbers and its solution, to copy and to have drawn.

import { act, getJson, runPath, type Details, type Elite } from "./api";
import type { ArchiveName } from "./archive";
import { h, pageColor, table } from "./dom";
import { grouped, score } from "./numbers";

const MAX_VALUES = 1000;

export class ElitePanel {
  readonly element = h("div", { class: "elite" });
  private request = 0;

  constructor(
    private run: string,
    private details: Details,
    private canAct: boolean,
  ) {}

  // Says what is known of a cell without asking the server.
  hint(text: string) {
    this.element.replaceChildren(h("p", { class: "muted lines" }, text));
  }

  async show(archive: ArchiveName, cell: number | null) {
    const request = ++this.request;
    const query = new URLSearchParams({ archive });
    if (cell !== null) query.set("cell", String(cell));
    let found: { iteration: number; elite: Elite };
    try {
      found = await getJson(`${runPath(this.run)}/elite?${query}`);
    } catch (error) {
      if (request === this.request) this.hint((error as Error).message);
      return;
    }
    // Only the newest question counts.
    if (request === this.request) this.draw(found.elite, found.iteration, cell === null);
  }

  private draw(elite: Elite, iteration: number, isBest: boolean) {
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
    const buttons = h("div", { class: "buttons" }, copyButton("Copy JSON", JSON.stringify(elite)), copyButton("Copy NumPy", numpy));
    const picture = h("div", { class: "replay" });
    if (this.details.can_render && this.canAct) {
      buttons.append(h("button", { type: "button", onclick: () => this.replay(elite.cell, picture) }, "Draw"));
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
    drawBars(bars, elite.solution);
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
    place.replaceChildren(h("p", { class: "muted" }, "Drawing …"));
    try {
      const response = await act(`${runPath(this.run)}/replay?cell=${cell}`);
      const bytes = await response.arrayBuffer();
      const kind = pictureKind(new Uint8Array(bytes));
      if (kind) {
        const image = h("img", { alt: "The elite, drawn by the command of the run" });
        image.src = URL.createObjectURL(new Blob([bytes], { type: kind }));
        image.onload = () => URL.revokeObjectURL(image.src);
        place.replaceChildren(image);
      } else {
        place.replaceChildren(h("pre", {}, new TextDecoder().decode(bytes)));
      }
    } catch (error) {
      place.replaceChildren(h("pre", { class: "error" }, (error as Error).message));
    }
  }
}

// What kind of picture these bytes are. SVG is shown as an image, in which no script runs.
function pictureKind(bytes: Uint8Array): string | null {
  const starts = (text: string) => [...text].every((c, i) => bytes[i] === c.charCodeAt(0));
  if (starts("\u0089PNG")) return "image/png";
  if (starts("GIF8")) return "image/gif";
  if (starts("\u00ff\u00d8")) return "image/jpeg";
  if (starts("RIFF")) return "image/webp";
  const text = new TextDecoder().decode(bytes.subarray(0, 300)).trimStart();
  return text.startsWith("<svg") || (text.startsWith("<?xml") && text.includes("<svg")) ? "image/svg+xml" : null;
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
