// Numbers of runs as text.

import { format } from "../../../luminary-plot/assets/shared/numbers.js";

export const score = (value: number | null | undefined, digits = 5): string =>
  value === null || value === undefined ? "–" : format(value, digits);

export const percent = (value: number | null | undefined): string =>
  value === null || value === undefined ? "–" : `${(100 * value).toFixed(value < 0.1 ? 2 : 1)} %`;

export const grouped = (value: number | null | undefined): string =>
  value === null || value === undefined ? "–" : Math.round(value).toLocaleString("en-US");

// A few letters for large numbers: 12.3k, 4.5M.
export function brief(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  for (const [unit, letter] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]] as [number, string][]) {
    if (size >= unit) return `${score(value / unit, 3)}${letter}`;
  }
  return score(value, size >= 10 ? 3 : 2);
}

export function elapsed(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 60) return `${seconds.toPrecision(3)} s`;
  const whole = Math.round(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return hours ? `${hours} h ${minutes} min` : `${minutes} min ${whole % 60} s`;
}

export const when = (unix: number | undefined): string =>
  unix ? new Date(1000 * unix).toISOString().slice(0, 16).replace("T", " ") + " UTC" : "–";
