// How emitters and evaluations do.

import { h, table } from "./dom";
import { grouped, percent, score } from "./numbers";

export interface EmitterVitals {
  batch_size: number;
  sigma: number | null;
  restarts: Record<string, number> | null;
  stale_rows: number;
  place: number[] | null;
}

export interface Vitals {
  emitters: EmitterVitals[];
  // Lower end, upper end in seconds, and how many evaluations.
  durations: [number, number, number][];
  workers: number | null;
}

export function emitterTable(emitters: EmitterVitals[], measures: string[], evaluations: number): HTMLElement {
  const causes = [...new Set(emitters.flatMap(({ restarts }) => Object.keys(restarts ?? {})))];
  // Causes that never came are left out, so that the others can be read.
  const seen = causes.filter((cause) => emitters.some(({ restarts }) => restarts?.[cause]));
  const total = (restarts: EmitterVitals["restarts"]) => Object.values(restarts ?? {}).reduce((a, b) => a + b, 0);
  const hasPlaces = emitters.some(({ place }) => place);
  const rows = emitters.map((emitter, i) => [
    String(i),
    grouped(emitter.batch_size),
    score(emitter.sigma, 3),
    ...(hasPlaces ? measures.map((_, k) => score(emitter.place?.[k], 4)) : []),
    emitter.restarts ? grouped(total(emitter.restarts)) : "–",
    ...seen.map((cause) => grouped(emitter.restarts?.[cause] ?? 0)),
    grouped(emitter.stale_rows),
  ]);
  const places = hasPlaces ? measures.map((name) => `at ${name}`) : [];
  const heads = ["Emitter", "Batch", "Step size σ", ...places, "Restarts", ...seen.map((cause) => cause.replace(/_/g, " ")), "Stale rows"];
  const stale = emitters.reduce((sum, { stale_rows }) => sum + stale_rows, 0);
  const share = evaluations ? percent(stale / evaluations) : "–";
  const text = `${grouped(stale)} of ${grouped(evaluations)} rows (${share}) came after their emitter had gone on without them.`;
  return h("div", {}, table(heads, rows, "numbers"), h("p", { class: "muted small" }, text));
}

const UNITS: [number, string][] = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];

export function duration(seconds: number): string {
  const [unit, name] = UNITS.find(([unit]) => seconds >= 0.9995 * unit) ?? UNITS[3];
  const amount = seconds / unit;
  return `${amount < 10 ? amount.toPrecision(2) : grouped(amount)} ${name}`;
}

// Durations as bars, each a class that is wider than the one before by the square root of two.
export function histogram(durations: Vitals["durations"]): HTMLElement {
  const most = Math.max(1, ...durations.map(([, , count]) => count));
  const total = durations.reduce((sum, [, , count]) => sum + count, 0);
  const bars = durations.map(([lower, upper, count]) => {
    const bar = h("span", { title: `${duration(lower)} to ${duration(upper)}: ${grouped(count)}` });
    bar.style.height = `${count ? Math.max(2, (100 * count) / most) : 0}%`;
    return bar;
  });
  let seen = 0;
  const middle = durations.find(([, , count]) => (seen += count) >= total / 2);
  const [first, last] = [durations[0][0], durations.at(-1)![1]];
  const label = `${grouped(total)} evaluations took ${duration(first)} to ${duration(last)}, half of them up to ${duration(middle![1])}`;
  return h(
    "div",
    {},
    h("div", { class: "histogram", role: "img", "aria-label": label }, ...bars),
    h("div", { class: "ends muted small" }, h("span", {}, duration(first)), h("span", {}, duration(last))),
    h("p", { class: "muted small" }, `${label}.`),
  );
}
