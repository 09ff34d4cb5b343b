// The metrics log of a run, read as it grows.

import { get, runPath } from "./api";

export type Row = Record<string, number | null>;

const NUMBERS: Record<string, number> = { inf: Infinity, "-inf": -Infinity, NaN: NaN };

export class Metrics {
  rows: Row[] = [];
  private offset = 0;

  constructor(readonly run: string) {}

  // Reads what is new; says whether anything is.
  async update(): Promise<boolean> {
    let isNew = false;
    let hasForgotten = false;
    for (;;) {
      const response = await get(`${runPath(this.run)}/metrics?from=${this.offset}`);
      const text = await response.text();
      if (!text) return isNew;
      isNew = true;
      const rows = text.split("\n").flatMap(parse);
      const last = this.rows.at(-1)?.iteration ?? -1;
      if (rows.length && (rows[0].iteration ?? 0) <= last && !hasForgotten) {
        // The run went back to a checkpoint, and the log with it. A log that goes back within itself is taken as it is.
        hasForgotten = true;
        this.forget();
        continue;
      }
      this.rows.push(...rows);
      this.offset += new TextEncoder().encode(text).length;
    }
  }

  // Begins anew: the log is shorter than what was read of it.
  forget() {
    this.rows = [];
    this.offset = 0;
  }

  get length(): number {
    return this.offset;
  }

  column(key: string): (number | null)[] {
    return this.rows.map((row) => {
      const value = row[key];
      return typeof value === "number" && Number.isFinite(value) ? value : null;
    });
  }
}

function parse(line: string): Row[] {
  try {
    const row = JSON.parse(line);
    for (const key of Object.keys(row)) if (row[key] in NUMBERS) row[key] = NUMBERS[row[key]];
    return typeof row.iteration === "number" ? [row] : [];
  } catch {
    return [];
  }
}

// The metrics with their names; coverage only means something for archives that can be full.
export const METRICS: [string, string][] = [
  ["qd_score", "QD score"],
  ["coverage", "Coverage in %"],
  ["best", "Best objective"],
  ["mean", "Mean objective"],
  ["elites", "Elites"],
  ["rate", "Evaluations per second"],
  ["restarts", "Restarts"],
  ["invalid", "Evaluations without a value"],
  ["qd_score_sum", "QD score, sum over elites"],
];

// The values of a metric as its curve shows them.
export function valuesOf(metrics: Metrics, key: string): (number | null)[] {
  if (key === "rate") return rates(metrics);
  const values = metrics.column(key);
  return key === "coverage" ? values.map((value) => value && 100 * value) : values;
}

// Numbers of the log that have no curve, because they only grow.
const NOT_DRAWN = ["iteration", "evaluations", "seconds"];

// The names of numbers in a log that are none of the metrics above.
export function otherMetrics(metrics: Metrics): [string, string][] {
  const known = [...NOT_DRAWN, ...METRICS.map(([key]) => key)];
  const keys = Object.keys(metrics.rows.at(-1) ?? {}).filter((key) => !known.includes(key));
  const isNumber = (key: string) => metrics.rows.some((row) => typeof row[key] === "number");
  return keys.filter(isNumber).map((key) => [key, key.charAt(0).toUpperCase() + key.slice(1).replaceAll("_", " ")]);
}

// Evaluations per second, over a few rows of the log or, of a long one, over a fiftieth of it.
function rates(metrics: Metrics): (number | null)[] {
  const [evaluations, seconds] = [metrics.column("evaluations"), metrics.column("seconds")];
  const span = Math.max(5, Math.round(evaluations.length / 50));
  return evaluations.map((value, i) => {
    const from = Math.max(0, i - span);
    const time = (seconds[i] ?? 0) - (seconds[from] ?? 0);
    return i > 0 && time > 0 ? ((value ?? 0) - (evaluations[from] ?? 0)) / time : null;
  });
}
