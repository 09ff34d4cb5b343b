// Time: a slider over the moments that the history of a run holds, with now at its end.

import { getJson, runPath } from "./api";
import { h } from "./dom";
import { elapsed, grouped } from "./numbers";

export interface Moment {
  iteration: number;
  evaluations: number;
  seconds: number;
  places: (number[] | null)[];
}

export class TimeSlider {
  readonly element: HTMLElement;
  private moments: Moment[] = [];
  private range = h("input", { type: "range", min: 0, max: 0, step: 1, "aria-label": "Time", oninput: () => this.moved() });
  private text = h("output", { class: "muted small" });
  private play = h("button", { type: "button", onclick: () => this.toggle() }, "Play");
  private timer = 0;

  constructor(
    private run: string,
    private at: number | null,
    private chosen: (iteration: number | null) => void,
  ) {
    this.element = h("div", { class: "time", hidden: true }, this.play, this.range, this.text);
  }

  // The moment that is shown; none if it is now.
  get moment(): Moment | null {
    return this.moments.find(({ iteration }) => iteration === this.at) ?? null;
  }

  async update() {
    const found = await getJson<{ moments: Moment[] }>(`${runPath(this.run)}/history`).catch(() => null);
    if (!found) return;
    this.moments = found.moments;
    this.element.hidden = this.moments.length < 2;
    this.range.max = String(this.moments.length);
    this.draw();
  }

  private draw() {
    const place = this.moments.findIndex(({ iteration }) => iteration === this.at);
    this.range.value = String(place < 0 ? this.moments.length : place);
    const { moment } = this;
    const text = moment ? `${grouped(moment.evaluations)} evaluations, ${elapsed(moment.seconds)}` : "now";
    this.text.textContent = text;
    this.range.setAttribute("aria-valuetext", moment ? `iteration ${grouped(moment.iteration)}, ${text}` : text);
    this.element.dataset.moments = String(this.moments.length);
  }

  private moved() {
    this.at = this.moments[Number(this.range.value)]?.iteration ?? null;
    this.draw();
    this.chosen(this.at);
  }

  // From the moment that is shown, or from the first, to now.
  private toggle() {
    if (this.timer) return this.stop();
    if (Number(this.range.value) >= this.moments.length) this.range.value = "0";
    this.play.textContent = "Stop";
    this.moved();
    this.timer = window.setInterval(() => {
      if (!this.element.isConnected || Number(this.range.value) >= this.moments.length) return this.stop();
      this.range.value = String(Number(this.range.value) + 1);
      this.moved();
    }, 350);
  }

  private stop() {
    window.clearInterval(this.timer);
    this.timer = 0;
    this.play.textContent = "Play";
  }
}
