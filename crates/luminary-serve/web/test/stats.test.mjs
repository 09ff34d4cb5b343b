// Statistics of comparisons, held against values that are known.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./support.mjs";

const { estimate, mannWhitney } = await load("stats");

test("the exact test counts all ways to share out the ranks", () => {
  // Two of the twenty ways are as extreme as complete separation of three and three.
  assert.equal(mannWhitney([1, 2, 3], [4, 5, 6]), 0.1);
  // And two of the seventy of four and four, each way.
  assert.ok(Math.abs(mannWhitney([5, 6, 7, 8], [1, 2, 3, 4]) - 2 / 70) < 1e-12);
  assert.equal(mannWhitney([1, 1, 1], [1, 1, 1]), 1);
  assert.equal(mannWhitney([], [1]), null);
});

test("larger groups are judged by the normal approximation, with continuity correction", () => {
  const low = Array.from({ length: 13 }, (_, i) => i);
  const high = low.map((value) => value + 100);
  // z = (84.5 - 0.5) / sqrt(13 * 13 * 27 / 12), and p = erfc(z / sqrt(2)); the tail is good to 7.5e-8.
  assert.ok(Math.abs(mannWhitney(low, high) - 1.6497e-5) < 2e-7);
  assert.equal(mannWhitney(low, low), 1);
});

test("means leave out what is not a number", () => {
  assert.deepEqual(estimate([1, 3, null, NaN]), { mean: 2, error: 1, n: 2 });
  assert.equal(estimate([null]), null);
});
