// Evaluations without a value, those with the same cause in a row.

import { h, table } from "./dom";
import { grouped } from "./numbers";

export interface Failure {
  iteration: number;
  kind: string;
  cause: string;
  output?: string[];
  solution?: unknown;
}

// The newest failures, which come first, and how many there were of each kind in all.
export function failureTable(failures: Failure[], byKind: Record<string, number>): HTMLElement {
  const groups = new Map<string, Failure[]>();
  for (const failure of failures) {
    const key = `${failure.kind}: ${failure.cause}`;
    groups.set(key, [...(groups.get(key) ?? []), failure]);
  }
  const rows = [...groups.values()].map((group) => [
    h("span", { class: "cause" }, String(group[0].cause)),
    grouped(group.length),
    grouped(group[0].iteration),
    details(group),
  ]);
  const all = Object.entries(byKind).map(([kind, count]) => `${grouped(count)} × ${kind}`);
  const text = `The newest ${grouped(failures.length)} are shown${all.length ? `; in all ${all.join(", ")}` : ""}.`;
  return h("div", { class: "failures" }, table(["Cause", "Rows", "Iteration", ""], rows), h("p", { class: "muted small" }, text));
}

function details(group: Failure[]): HTMLElement {
  const [newest, ...others] = group;
  const output = Array.isArray(newest.output) ? newest.output : [];
  const solution = ({ iteration, solution }: Failure) => `iteration ${grouped(iteration)}: ${JSON.stringify(solution)}`;
  const parts = [...output, JSON.stringify(newest.solution)];
  if (others.length) parts.push("", "The solutions before it:", ...others.map(solution));
  return h("details", {}, h("summary", {}, "output and solution"), h("pre", {}, parts.join("\n")));
}
