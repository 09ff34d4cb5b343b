// What the server answers.

export interface RunLine {
  id: string;
  name: string;
  group: string;
  state: string;
  cause: string | null;
  problem?: string;
  algorithm?: string;
  seed?: number;
  minimise?: boolean;
  created?: number;
  iterations?: number;
  iterations_wanted?: number;
  evaluations?: number;
  seconds?: number;
  rate?: number | null;
  qd_score?: number | null;
  coverage?: number;
  has_limit?: boolean;
  best?: number | null;
  mean?: number | null;
  elites?: number;
  cells?: number;
  restarts?: number;
  invalid?: number;
}

export interface Measure {
  name: string;
  lower: number;
  upper: number;
}

export interface Details {
  title: string;
  labels: { objective: string; measures: string[]; components?: string[] };
  manifest: any;
  folder: string;
  command: string | null;
  can_render: boolean;
  restarts_by_cause: Record<string, number> | null;
  failures_by_cause: Record<string, number>;
  measures_seen: { rows: number; outside: number } | null;
}

export interface Elite {
  objective: number | null;
  measures: (number | null)[];
  solution: (number | null)[];
  extras: Record<string, number | number[] | null>;
  cell: number;
  intervals: number[] | null;
  threshold: number | null;
  visits: number | null;
}

export interface RunPulse {
  metrics: number;
  failures: number;
  live: number;
  history: number;
  checkpoint: string;
}

export interface Pulse {
  list: string;
  run: RunPulse | null;
}

// An answer that is not what was asked for, in the server's words.
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

export async function get(path: string): Promise<Response> {
  return checked(await fetch(path));
}

export async function getJson<T>(path: string): Promise<T> {
  return (await get(path)).json();
}

// A request that changes something; only a page of the server itself can send its header.
export async function act(path: string): Promise<Response> {
  return checked(await fetch(path, { method: "POST", headers: { "x-luminary": "1" } }));
}

async function checked(response: Response): Promise<Response> {
  if (response.ok || response.status === 304) return response;
  let message = `${response.status}`;
  try {
    message = (await response.json()).error ?? message;
  } catch {
    // The status alone has to do.
  }
  throw new Refusal(response.status, message);
}

export const runPath = (id: string) => `/api/runs/${encodeURIComponent(id)}`;

export interface Palette {
  // RGB bytes: empty, not a number, then from low to high.
  levels: Uint8Array;
  series: string[];
}

let palette: Promise<Palette> | null = null;

// The colours of figures, which the server knows.
export function getPalette(): Promise<Palette> {
  palette ??= getJson<{ levels: number[]; series: string[] }>("/api/palette").then(({ levels, series }) => ({
    levels: Uint8Array.from(levels),
    series,
  }));
  return palette;
}
