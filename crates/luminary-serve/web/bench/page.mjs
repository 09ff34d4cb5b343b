// How long the page takes: first pictures, layers, a long list, and frames while a run goes on. Prints a table.

import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { Lab } from "../test/support.mjs";

const N_RUNS = 100;
const N_LISTED = 1000;
const LARGE = ["--domain", "lp-sphere", "--n", "10", "--resolution", "1000x1000", "--algorithm", "map_elites", "--emitters", "15",
  "--batch-size", "36", "--threads", "1", "--quiet", "--set", "run.figures=false"];
const COPIED = ["manifest.json", "state.json", "summary.json", "metrics.jsonl"];

const lab = new Lab();
const note = (what, value) => console.log(`| ${what} | ${value} |`);
const ms = (value) => `${Math.round(value)} ms`;

// Runs that look like the small one, as far as the list is concerned.
function copies(name, n) {
  for (let i = 0; i < n; i++) {
    mkdirSync(lab.path(`runs/${name}-${i}`));
    for (const file of COPIED) cpSync(lab.path(`runs/small/${file}`), lab.path(`runs/${name}-${i}/${file}`));
  }
}

// Milliseconds from the beginning of a navigation until an element is there and has been painted.
async function timeUntil(url, selector) {
  const watch = (selector) => {
    const look = () => {
      if (document.querySelector(selector)) requestAnimationFrame(() => (window.seenAfter = performance.now()));
      else setTimeout(look, 5);
    };
    look();
  };
  const page = await lab.open(url, {}, (page) => page.addInitScript(watch, selector));
  await page.waitForFunction(() => window.seenAfter !== undefined);
  return { page, time: await page.evaluate(() => window.seenAfter) };
}

async function median(n, measure) {
  const times = [];
  for (let i = 0; i < n; i++) times.push(await measure(i));
  return times.sort((a, b) => a - b)[n >> 1];
}

async function firstPictures() {
  lab.call("run", ...LARGE, "--iterations", "2000", "--out", lab.path("runs/large"));
  const { elites } = JSON.parse(readFileSync(lab.path("runs/large/summary.json"), "utf8"));
  lab.call("run", "--domain", "lp-sphere", "--n", "10", "--iterations", "50", "--quiet", "--out", lab.path("runs/small"));
  copies("copy", N_RUNS - 2);
  note("runs; elites of the archive of 1,000 x 1,000", `${N_RUNS}; ${elites}`);
  // A server that has read nothing yet, and the same one again.
  for (const [what, layer] of [["objective", ""], ["visits", "?layer=visits"], ["searched archive", "?archive=search"]]) {
    const server = await lab.serve();
    const list = await lab.open(server.url);
    const href = await list.locator(".runs a", { hasText: "large" }).first().getAttribute("href");
    await list.context().close();
    const open = async () => {
      const { page, time } = await timeUntil(`${server.url}${href}${layer}`, ".map[data-iteration]");
      await page.context().close();
      return time;
    };
    note(`first picture, ${what}, server that has read nothing`, ms(await open()));
    note(`first picture, ${what}, again (median of 5)`, ms(await median(5, open)));
    await lab.stop(server.child);
  }
}

async function frames() {
  const running = lab.start("run", ...LARGE, "--iterations", "100000000", "--out", lab.path("runs/live"));
  const server = await lab.serve();
  const list = await lab.open(server.url);
  const link = list.locator(".runs a", { hasText: "live" }).first();
  await link.waitFor();
  const href = await link.getAttribute("href");
  const { page, time } = await timeUntil(`${server.url}${href}`, '.map[data-source="live"]');
  note("first live picture of a running archive of 1,000 x 1,000", ms(time));
  const found = await page.evaluate(async () => {
    const map = document.querySelector(".map");
    const gaps = [];
    const iterations = new Set();
    let last = performance.now();
    const end = last + 20000;
    while (last < end) {
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      gaps.push(now - last);
      last = now;
      iterations.add(map.dataset.iteration);
    }
    gaps.sort((a, b) => a - b);
    return { n: gaps.length, updates: iterations.size - 1, longest: gaps.at(-1), p99: gaps[Math.floor(0.99 * gaps.length)] };
  });
  note("frames per second over 20 s of updates", (found.n / 20).toFixed(1));
  note("pictures in these 20 s", found.updates);
  note("longest frame; 99 % are shorter than", `${ms(found.longest)}; ${ms(found.p99)}`);
  await lab.stop(running);
}

async function longList() {
  copies("more", N_LISTED - N_RUNS - 1);
  const server = await lab.serve();
  const open = async () => {
    const { page, time } = await timeUntil(server.url, ".runs tbody tr");
    await page.context().close();
    return time;
  };
  note(`list of ${N_LISTED} runs, server that has read nothing`, ms(await open()));
  note(`list of ${N_LISTED} runs, again (median of 5)`, ms(await median(5, open)));
}

try {
  mkdirSync(lab.path("runs"));
  console.log("| what | measured |\n|---|---|");
  await firstPictures();
  await frames();
  await longList();
  if (lab.errors.length) throw new Error(lab.errors.join("\n"));
} finally {
  await lab.close();
}
