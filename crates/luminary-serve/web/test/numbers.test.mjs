// The ends of a range of colours, found without sorting, are those of sorted values.

import assert from "node:assert/strict";
import { test } from "node:test";
import { withoutOutliers } from "../../../luminary-plot/assets/shared/numbers.js";

// Small random numbers that repeat.
function chance(seed) {
  let state = seed;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

function bySorting(values) {
  const sorted = Array.from(values).filter(Number.isFinite).sort((a, b) => a - b);
  if (!sorted.length) return [0, 1];
  const at = (place) => sorted[place];
  const last = sorted.length - 1;
  const tail = Math.round(last * 0.01);
  const reach = 0.5 * (at(last - tail) - at(tail));
  const low = reach > 0 && at(tail) - at(0) > reach ? at(tail) : at(0);
  const high = reach > 0 && at(last) - at(last - tail) > reach ? at(last - tail) : at(last);
  return high > low ? [low, high] : [low - 0.5, low + 0.5];
}

test("outliers are left out as if values were sorted", () => {
  const random = chance(7);
  for (let round = 0; round < 3000; round++) {
    const kind = () => {
      const share = random();
      if (share < 0.02) return [NaN, Infinity, -Infinity][Math.floor(3 * random())];
      if (share < 0.3) return Math.floor(4 * random());
      return share < 0.33 ? 1e9 * (random() - 0.5) : random() ** 5;
    };
    const values = Float64Array.from({ length: Math.floor(300 * random()) }, kind);
    assert.deepEqual(withoutOutliers(values), bySorting(values));
  }
});
