// Where one of two archives with the same cells is better.

import type { Archive } from "./archive";
import { pictureOf } from "./layers";
import type { Picture } from "./map";

export interface Difference {
  picture: Picture;
  // Cells that both have filled and in which the first or the second is better.
  nBetter: number;
  nWorse: number;
  // Cells that only one of them has filled.
  nOnlyHere: number;
  nOnlyThere: number;
  mean: number;
}

// Objectives of one archive minus those of another, where both have an elite; nothing if their cells differ.
export function difference(a: Archive, b: Archive): Difference | null {
  const [one, other] = [a.head, b.head];
  const shape = (head: typeof one) => head && JSON.stringify([head.kind, head.resolution, head.n_cells, head.measures]);
  if (!one || !other || one.kind === "points" || shape(one) !== shape(other)) return null;
  const cells: number[] = [];
  const values: number[] = [];
  const [x, y] = [a.column("objective"), b.column("objective")];
  for (let i = 0; i < a.nElites; i++) {
    const place = b.elite(a.cells[i]);
    if (place === undefined) continue;
    cells.push(a.cells[i]);
    values.push(one.minimise ? y[place] - x[i] : x[i] - y[place]);
  }
  const own = Float64Array.from(values);
  const picture = { ...pictureOf(a, "objective", "difference"), nElites: cells.length, cells, values: own, objectives: own, flipped: false, diverging: true };
  return {
    picture,
    nBetter: values.filter((value) => value > 0).length,
    nWorse: values.filter((value) => value < 0).length,
    nOnlyHere: a.nElites - cells.length,
    nOnlyThere: b.nElites - cells.length,
    mean: values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length),
  };
}
