// What the colours of a heatmap can show, and the picture of a layer.

import type { Archive, Offer } from "./archive";
import { visible } from "./dom";
import type { Picture } from "./map";

export const IMPROVEMENT = "improvement";

// All layers of an archive; where there is a threshold, there is an improvement over it.
export function layersOf(offers: Offer[]): Offer[] {
  const layers: Offer[] = [];
  for (const offer of offers) {
    layers.push(offer);
    if (offer.key === "threshold") layers.push({ key: IMPROVEMENT, label: "improvement over the threshold" });
  }
  return layers;
}

// The columns that a layer needs, the objective first.
export function columnsOf(layer: string, nPointMeasures: number): string[] {
  const own = layer === "objective" ? [] : layer === IMPROVEMENT ? ["threshold"] : [layer];
  const positions = Array.from({ length: nPointMeasures }, (_, i) => `measure.${i}`);
  return [...new Set(["objective", ...own, ...positions])];
}

export function pictureOf(archive: Archive, layer: string, label: string): Picture {
  const head = archive.head!;
  const own = archive.column("objective");
  const objectives = head.minimise ? own.map((value) => 0 - value) : own;
  let values = own;
  if (layer === IMPROVEMENT) {
    const thresholds = archive.column("threshold");
    values = own.map((value, i) => (head.minimise ? thresholds[i] - value : value - thresholds[i]));
  } else if (layer !== "objective") {
    values = archive.column(layer);
  }
  const isObjective = layer === "objective" || layer === "threshold";
  return {
    kind: head.kind,
    measures: head.measures.map((measure) => ({ ...measure, name: visible(measure.name) })),
    grid: head.kind === "grid" ? head.resolution : null,
    centroids: head.kind === "points" ? positions(archive) : archive.centroids,
    nCells: head.kind === "points" ? archive.nElites : head.n_cells,
    nElites: archive.nElites,
    cells: archive.cells,
    objectives,
    name: visible(label),
    values,
    flipped: head.minimise && isObjective,
  };
}

// The measures of elites, row by row.
function positions(archive: Archive): Float64Array {
  const n = archive.head!.measures.length;
  const rows = new Float64Array(n * archive.nElites);
  for (let i = 0; i < n; i++) {
    const column = archive.column(`measure.${i}`);
    for (let elite = 0; elite < column.length; elite++) rows[elite * n + i] = column[elite];
  }
  return rows;
}
