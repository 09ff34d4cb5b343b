// What a page of the live view is, and what it gets to know.

import type { RunLine, RunPulse } from "./api";

export interface View {
  readonly element: HTMLElement;
  // The run whose changes are to be pushed.
  readonly run: string | null;
  title: string;
  // All runs, whenever one has changed.
  list(runs: RunLine[]): void;
  // The run has changed.
  pulse?(pulse: RunPulse | null): void;
  // A key was pressed that no element took.
  key?(event: KeyboardEvent): void;
  // The colours of the page have changed.
  recolor?(): void;
}
