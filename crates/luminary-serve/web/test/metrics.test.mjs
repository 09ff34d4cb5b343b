// The log of a run is read to its end, whatever is in it.

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { load } from "./support.mjs";

const { Metrics, otherMetrics } = await load("metrics");
const fetched = globalThis.fetch;

afterEach(() => {
  globalThis.fetch = fetched;
});

// A server that sends one line of this log at a time; says how often it was asked.
function serve(lines) {
  const log = Buffer.from(lines.map((line) => `${line}\n`).join(""));
  const server = { n: 0 };
  globalThis.fetch = async (path) => {
    server.n++;
    if (server.n > 100) throw new Error("asked again and again");
    const rest = log.subarray(Number(new URLSearchParams(path.split("?")[1]).get("from")));
    return new Response(rest.subarray(0, rest.indexOf("\n") + 1));
  };
  return server;
}

test("a log that goes back within itself is read once more and no more", async () => {
  const server = serve(['{"iteration": 5}', '{"iteration": 3}', "null", "[]", "{broken", '{"iteration": 4}']);
  const metrics = new Metrics("0");
  assert.equal(await metrics.update(), true);
  assert.deepEqual(metrics.column("iteration"), [5, 3, 4]);
  assert.ok(server.n < 20, `${server.n} requests`);
});

test("numbers that no curve is known for have one all the same", async () => {
  serve(['{"iteration": 1, "seconds": 0.5, "qd_score": 2, "true_qd_score": "NaN", "failures": {}}', '{"iteration": 2, "qd_score": 2, "true_qd_score": 3}']);
  const metrics = new Metrics("0");
  await metrics.update();
  assert.deepEqual(otherMetrics(metrics), [["true_qd_score", "True qd score"]]);
});
