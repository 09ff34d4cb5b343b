// The page in Chromium, over real runs of the real program.

import assert from "node:assert/strict";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { Lab, SMALL, tileCentre } from "./support.mjs";

const lab = new Lab();
let url = "";

before(async () => {
  mkdirSync(lab.path("runs"));
  lab.run("first", "--iterations", "60", "--seed", "1");
  lab.run("second", "--iterations", "60", "--seed", "2");
  lab.run("other", "--iterations", "60", "--algorithm", "map_elites");
  ({ url } = await lab.serve());
});

after(async () => {
  await lab.close();
});

// An evaluator that falls over where it is too steep.
const MOODY = `import { createInterface } from "node:readline";
const say = (value) => process.stdout.write(JSON.stringify(value) + "\\n");
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, solutions } = JSON.parse(line);
  if (id === undefined) return say({ version: 1 });
  if (solutions[0][0] > 0.2) {
    console.error("too steep");
    process.exit(3);
  }
  say({ id, results: solutions.map(([x, y]) => ({ objective: -x * x - y * y, measures: [x, y] })) });
});
`;

const row = (page, name) => page.locator(".runs tbody tr", { has: page.getByRole("link", { name, exact: true }) });

const choice = (page, label) => page.locator("label.choice").filter({ hasText: new RegExp(`^${label} `) }).locator("select");

async function openRun(page, name) {
  await page.goto(url);
  await row(page, name).getByRole("link").first().click();
  await page.locator(".run-page[data-ready]").waitFor();
  await page.locator(".map[data-iteration]").waitFor();
}

function noErrors() {
  assert.deepEqual(lab.errors, []);
}

test("runs are listed, searched, filtered and sorted", async () => {
  const page = await lab.open(url);
  await row(page, "first").waitFor();
  assert.equal(await page.locator(".runs tbody tr").count(), 3);
  await page.getByRole("searchbox").fill("map_elites");
  assert.equal(await page.locator(".runs tbody tr").count(), 1);
  await page.getByRole("searchbox").fill("");
  await page.getByLabel(/^State /).selectOption("running");
  await page.getByText("No run matches.").waitFor();
  await page.getByLabel(/^State /).selectOption("");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  assert.deepEqual(await page.locator(".runs .c-name a").allTextContents(), ["first", "other", "second"]);
  noErrors();
});

test("a folder appears, is damaged and is deleted under the open page", async () => {
  const page = await lab.open(url);
  await row(page, "first").waitFor();
  cpSync(lab.path("runs/first"), lab.path("runs/guest"), { recursive: true });
  await row(page, "guest").getByText("finished").waitFor();
  writeFileSync(lab.path("runs/guest/manifest.json"), "{ broken");
  await row(page, "guest").getByText("damaged").waitFor();
  rmSync(lab.path("runs/guest"), { recursive: true });
  await row(page, "guest").waitFor({ state: "detached" });
  noErrors();
});

test("hostile names are text, and cannot hide or turn around", async () => {
  const name = `<img src=x onerror="document.title='owned'"><script>document.title='owned'`.replaceAll("/", "");
  const turned = "\u202egnp.elif\u001b[31m";
  for (const one of [name, turned]) cpSync(lab.path("runs/first"), lab.path(`runs/${one}`), { recursive: true });
  const page = await lab.open(url);
  await page.getByRole("link", { name: "\ufffdgnp.elif\ufffd[31m", exact: true }).waitFor();
  await page.getByRole("link", { name, exact: true }).click();
  await page.locator(".run-page[data-ready]").waitFor();
  assert.ok(await page.getByText(name).count());
  assert.notEqual(await page.title(), "owned");
  for (const one of [name, turned]) rmSync(lab.path(`runs/${one}`), { recursive: true });
  noErrors();
});

test("what was searched, sorted and chosen is there again after a look at a run", async () => {
  const page = await lab.open(url);
  await row(page, "first").waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("lp-sphere");
  await page.getByRole("button", { name: "QD score" }).click();
  for (const name of ["first", "second"]) await row(page, name).getByRole("checkbox").check();
  await row(page, "other").getByRole("link").click();
  await page.locator(".run-page[data-ready]").waitFor();
  await page.goBack();
  await page.getByRole("link", { name: "Compare 2 runs" }).waitFor();
  assert.equal(await page.getByRole("searchbox").inputValue(), "lp-sphere");
  await row(page, "other").getByRole("link").click();
  await page.locator(".run-page[data-ready]").waitFor();
  await page.getByRole("link", { name: "All runs" }).click();
  await page.getByRole("link", { name: "Compare 2 runs" }).waitFor();
  await page.getByRole("columnheader", { name: "QD score ↓" }).waitFor();
  noErrors();
});

test("a click shows the elite that `luminary elite` prints, and the link shows it again", async () => {
  const page = await lab.open(url);
  await openRun(page, "first");
  const best = JSON.parse(lab.call("elite", lab.path("runs/first"), "--best", "--json"));
  const [column, up] = best.intervals;
  const [x, y] = await tileCentre(page, column, up, 20, 20);
  await page.mouse.move(x, y);
  await page.getByText(`Cell (${column}, ${up}): `).waitFor();
  await page.mouse.click(x, y);
  await page.locator(`.elite[data-cell="${best.cell}"]`).getByText(`Cell (${column}, ${up})`, { exact: true }).waitFor();
  const shown = await page.locator(".elite .values li").allTextContents();
  assert.equal(shown.length, best.solution.length);
  best.solution.forEach((value, i) => {
    const text = shown[i].replace(`x${i}`, "").replace("−", "-");
    assert.ok(Math.abs(Number(text) - value) <= 1e-5 * Math.abs(value) + 1e-12, `${shown[i]} is not ${value}`);
  });
  const again = await lab.open(page.url());
  await again.locator(`.elite[data-cell="${best.cell}"]`).waitFor();
  noErrors();
});

test("layers, archives and keys", async () => {
  const page = await lab.open(url);
  await openRun(page, "first");
  const objective = await page.locator(".map").getAttribute("data-range");
  await choice(page, "Archive").selectOption("search");
  await choice(page, "Colour").locator("option", { hasText: "improvement over the threshold" }).waitFor({ state: "attached" });
  await choice(page, "Colour").selectOption("improvement");
  await page.waitForFunction((old) => document.querySelector(".map").dataset.range !== old, objective);
  await choice(page, "Colour").selectOption("component.3");
  await page.waitForFunction(() => location.hash.includes("layer=component.3"));
  await page.locator(".map").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Enter");
  await page.locator(".elite").waitFor();
  assert.ok((await page.locator(".curve canvas").count()) >= 4);
  // Discs of emitters can be put aside.
  await page.locator('.map[data-places="3"]').waitFor();
  await page.getByRole("checkbox", { name: "Emitters" }).uncheck();
  await page.locator('.map[data-places="0"]').waitFor();
  noErrors();
});

test("a running run updates by itself, live", async () => {
  const running = lab.start("run", ...SMALL, "--iterations", "100000000", "--out", lab.path("runs/live"), "--quiet");
  const page = await lab.open(url);
  await row(page, "live").getByText("running").waitFor();
  await openRun(page, "live");
  await page.locator('.map[data-source="live"]').waitFor();
  const first = Number(await page.locator(".map").getAttribute("data-iteration"));
  await page.waitForFunction((old) => Number(document.querySelector(".map").dataset.iteration) > old, first);
  await lab.stop(running);
  await page.locator('.map[data-source="checkpoint"]').waitFor();
  await page.locator(".head .pill.interrupted").waitFor();
  noErrors();
});

test("the slider shows the past, with its emitters, and the link shows it again", async () => {
  const page = await lab.open(url);
  await openRun(page, "first");
  const map = page.locator(".map");
  const now = Number(await map.getAttribute("data-elites"));
  await page.locator('.map[data-places="3"]').waitFor();
  const slider = page.getByRole("slider", { name: "Time" });
  await slider.focus();
  await page.keyboard.press("Home");
  await page.locator('.map[data-source="history"][data-iteration="1"]').waitFor();
  const first = Number(await map.getAttribute("data-elites"));
  assert.ok(first > 0 && first < now, `${first} of ${now} elites`);
  await page.keyboard.press("ArrowRight");
  await page.locator('.map[data-iteration="2"]').waitFor();
  await page.waitForFunction(() => location.hash.includes("at=2"));
  const again = await lab.open(page.url());
  await again.locator('.map[data-source="history"][data-iteration="2"][data-places="3"]').waitFor();
  await slider.focus();
  await page.keyboard.press("End");
  await page.locator('.map[data-source="checkpoint"][data-iteration="60"]').waitFor();
  assert.ok(!page.url().includes("at="));
  noErrors();
});

test("emitters, durations and who found which elite", async () => {
  const page = await lab.open(url);
  await openRun(page, "first");
  const emitters = page.locator(".lists .card", { has: page.getByRole("heading", { name: "Emitters" }) });
  await emitters.waitFor();
  assert.equal(await emitters.locator("tbody tr").count(), 3);
  assert.match(await emitters.textContent(), /0 of 1,440 rows \(0\.00 %\) came after/);
  const durations = page.locator(".lists .card", { hasText: "Durations of evaluations" });
  assert.match(await durations.textContent(), /1,440 evaluations took/);
  assert.ok((await durations.locator(".histogram span").count()) > 0);
  await choice(page, "Colour").locator('option[value="emitter"]').waitFor({ state: "attached" });
  await choice(page, "Colour").selectOption("emitter");
  await page.waitForFunction(() => document.querySelector(".map").dataset.range === "0 2");
  noErrors();
});

test("points without cells update while their run goes on", async () => {
  const settings = ["archive.kind=dns", "archive.capacity=50", "algorithm.preset=cma_me", "algorithm.ranker=dominated_novelty"];
  const running = lab.start("run", "--domain", "lp-sphere", "--n", "10", ...settings.flatMap((one) => ["--set", one]), "--threads", "1",
    "--iterations", "100000000", "--out", lab.path("runs/points"), "--quiet");
  const page = await lab.open(url);
  await row(page, "points").getByText("running").waitFor();
  await openRun(page, "points");
  await page.locator('.map[data-source="live"]').waitFor();
  const first = Number(await page.locator(".map").getAttribute("data-iteration"));
  await page.waitForFunction((old) => Number(document.querySelector(".map").dataset.iteration) > old, first);
  assert.equal(await page.locator(".map").getAttribute("data-elites"), "50");
  await lab.stop(running);
  rmSync(lab.path("runs/points"), { recursive: true });
  noErrors();
});

test("evaluations without a value show their cause, their output and their solution", async () => {
  writeFileSync(lab.path("moody.mjs"), MOODY);
  const command = JSON.stringify([process.execPath, lab.path("moody.mjs")]);
  writeFileSync(lab.path("moody.toml"), `problem = { n = 2, measures = [[-1, 1], [-1, 1]] }
evaluator = { command = ${command}, workers = 2, retries = 0, rows_per_request = 1 }
run = { iterations = 2 }
algorithm = { emitters = 1, batch_size = 8 }
archive = { resolution = [5, 5] }
`);
  lab.call("run", lab.path("moody.toml"), "--out", lab.path("runs/moody"), "--quiet");
  const page = await lab.open(url);
  await openRun(page, "moody");
  const failures = page.locator(".lists .card", { hasText: "Evaluations without a value" });
  await failures.getByText("output and solution").first().click();
  const more = failures.locator("pre").first();
  await more.waitFor();
  assert.match(await more.textContent(), /too steep\n\[0\.\d+,/);
  const widths = await Promise.all([more, failures.locator("table")].map(async (one) => (await one.boundingBox()).width));
  assert.ok(widths[0] > 0.9 * widths[1], `${widths} pixels: the output is as wide as its table`);
  // Failures with the same cause are one row.
  const n = Number(await failures.locator("tbody td").first().textContent());
  assert.ok(n > 1 && (await failures.locator("tbody tr").count()) < n, `${n} failures`);
  await page.getByText("2 workers.").waitFor();
  rmSync(lab.path("runs/moody"), { recursive: true });
  noErrors();
});

// Three measures, a cost to minimise, names for components, and a column of one's own.
const WING = `import { createInterface } from "node:readline";
const say = (value) => process.stdout.write(JSON.stringify(value) + "\\n");
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, solutions } = JSON.parse(line);
  if (id === undefined) return say({ version: 1 });
  const result = ([x, y, z]) => ({ objective: 2 + x * x + y * y + z * z, measures: [x, y, z], extras: { lift: 1 + x } });
  say({ id, results: solutions.map(result) });
});
`;

test("three measures have pairs to choose, and a cost is minimised", async () => {
  writeFileSync(lab.path("wing.mjs"), WING);
  const command = JSON.stringify([process.execPath, lab.path("wing.mjs")]);
  writeFileSync(lab.path("wing.toml"), `[problem]
n = 3
measures = [[-1, 1], [-1, 1], [-1, 1]]
measure_names = ["camber", "root", "tip"]
component_names = ["sweep", "span", "chord"]
objective_name = "drag"
goal = "minimise"
[evaluator]
command = ${command}
workers = 1
extras = { lift = 1 }
[run]
iterations = 10
[algorithm]
emitters = 2
batch_size = 16
[archive]
resolution = [6, 5, 4]
min_f = 20
`);
  lab.call("run", lab.path("wing.toml"), "--out", lab.path("runs/wing"), "--quiet");
  const page = await lab.open(url);
  // The list of layers may come before the picture that says how many measures there are, or after it.
  for (const slow of ["saved", "cells"]) {
    await page.route(`**/api/runs/*/${slow}*`, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      await route.continue();
    });
    await openRun(page, "wing");
    await choice(page, "Across").locator("option", { hasText: "camber" }).waitFor({ state: "attached" });
    await page.unrouteAll({ behavior: "wait" });
  }
  await choice(page, "Up").selectOption({ label: "tip" });
  await page.waitForFunction(() => location.hash.includes("axes=0%2C2"));
  await choice(page, "Colour").selectOption({ label: "lift" });
  await page.waitForFunction(() => location.hash.includes("layer=extra.0.0"));
  const best = JSON.parse(lab.call("elite", lab.path("runs/wing"), "--best", "--json"));
  await page.locator(`.elite[data-cell="${best.cell}"]`).waitFor();
  assert.deepEqual(await page.locator(".elite .values span").allTextContents(), ["sweep", "span", "chord"]);
  const drag = Number((await page.locator(".facts div", { hasText: "Best" }).locator("dd").textContent()).replace("−", "-"));
  assert.ok(Math.abs(drag - best.objective) < 1e-3 && drag >= 2, `${drag} is not ${best.objective}`);
  rmSync(lab.path("runs/wing"), { recursive: true });
  noErrors();
});

test("a run without a checkpoint is shown as far as it is known, and says what is missing", async () => {
  cpSync(lab.path("runs/first"), lab.path("runs/killed"), { recursive: true });
  rmSync(lab.path("runs/killed/checkpoints"), { recursive: true });
  rmSync(lab.path("runs/killed/result.parquet"));
  const page = await lab.open(url);
  await openRun(page, "killed");
  await page.locator('.map[data-source="history"][data-iteration="60"]').waitFor();
  await page.locator(".elite").getByText("there is no checkpoint of this run yet").waitFor();
  rmSync(lab.path("runs/killed"), { recursive: true });
  noErrors();
});

const finals = (page) => page.locator(".card", { hasText: "Final figures" }).locator("tbody tr");

test("a comparison is in its link, with bands, a difference map and a p-value", async () => {
  const page = await lab.open(url);
  await row(page, "first").waitFor();
  for (const name of ["first", "second", "other"]) await row(page, name).getByRole("checkbox").check();
  await page.getByRole("link", { name: "Compare 3 runs" }).click();
  await page.locator(".run-page[data-ready]").waitFor();
  const rows = await finals(page).allTextContents();
  assert.equal(rows.length, 2);
  assert.ok(rows.some((text) => text.includes("p = ")) && rows.some((text) => text.includes("±")));
  const difference = page.locator(".card", { hasText: "Difference of two archives" });
  const counted = async (text) => Number((await difference.locator("tr", { hasText: text }).locator("td").textContent()).replace(",", ""));
  await difference.getByText("cells are filled in both").waitFor();
  assert.equal(await counted("filled in both"), (await counted("the first is better")) + (await counted("the second is better")) + (await counted("both are as good")));
  const again = await lab.open(page.url());
  await again.locator(".run-page[data-ready]").waitFor();
  assert.deepEqual(await finals(again).allTextContents(), rows);
  noErrors();
});

test("light, dark and narrow", async () => {
  const page = await lab.open(url, { viewport: { width: 390, height: 800 }, colorScheme: "dark" });
  await row(page, "first").waitFor();
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await background();
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= 390), true, "the list is as wide as the screen");
  // Without headings to click there is a list of what to sort by, and runs can be chosen here too.
  await page.getByLabel(/^By /).selectOption("name");
  const names = await page.locator(".runs .c-name a").allTextContents();
  assert.deepEqual(names, [...names].sort());
  for (const name of ["first", "second"]) await row(page, name).getByRole("checkbox").check();
  await page.getByRole("link", { name: "Compare 2 runs" }).waitFor();
  await openRun(page, "first");
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= 390), true, "a run is as wide as the screen");
  await page.getByRole("button", { name: "Light" }).click();
  assert.notEqual(await background(), dark);
  noErrors();
});

test("a page outlives its server", async () => {
  const server = await lab.serve();
  const page = await lab.open(server.url);
  await row(page, "first").waitFor();
  const port = new URL(server.url).port;
  await lab.stop(server.child);
  await page.getByText("not connected").waitFor();
  lab.run("third", "--iterations", "20");
  await lab.serve("--port", port);
  await row(page, "third").waitFor();
  rmSync(lab.path("runs/third"), { recursive: true });
  noErrors();
});

test("a run is stopped and an elite is drawn, where that is allowed", async () => {
  const config = `problem = { domain = "lp-sphere", n = 10 }
run = { iterations = 100000000 }
render = { command = ["sh", "-c", "printf 'an elite of %s bytes' $(wc -c)"] }
`;
  writeFileSync(lab.path("drawn.toml"), config);
  const running = lab.start("run", lab.path("drawn.toml"), "--out", lab.path("runs/acted"), "--quiet");
  const server = await lab.serve("--control");
  const page = await lab.open(server.url);
  await row(page, "acted").getByText("running").waitFor();
  await row(page, "acted").getByRole("link").first().click();
  const ended = new Promise((resolve) => running.once("exit", resolve));
  await page.getByRole("button", { name: "Stop" }).click();
  await ended;
  await page.getByRole("button", { name: "Resume" }).waitFor();
  await page.locator('.map[data-source="checkpoint"]').waitFor();
  await page.locator(".map").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Draw" }).click();
  await page.getByText(/an elite of \d+ bytes/).waitFor();
  rmSync(lab.path("runs/acted"), { recursive: true });
  noErrors();
});

test("a thousand runs are listed", async () => {
  const many = new Lab();
  try {
    mkdirSync(many.path("runs"));
    many.run("0", "--iterations", "2", "--set", "run.figures=false");
    for (let i = 1; i < 1000; i++) {
      mkdirSync(many.path(`runs/${i}`));
      for (const name of ["manifest.json", "state.json", "summary.json", "metrics.jsonl"]) {
        cpSync(many.path(`runs/0/${name}`), many.path(`runs/${i}/${name}`));
      }
    }
    const server = await many.serve();
    const page = await many.open(server.url);
    await page.getByText("1000 of 1000 runs").waitFor();
    assert.equal(await page.locator(".runs tbody tr").count(), 1000);
    await page.getByRole("searchbox").fill("999");
    await page.getByText("1 of 1000 runs").waitFor();
    assert.deepEqual(many.errors, []);
  } finally {
    await many.close();
  }
});

test("a link that asks for what an archive does not have shows what it has", async () => {
  const page = await lab.open(url);
  await openRun(page, "first");
  const own = page.url().split("?")[0];
  for (const odd of ["layer=nothing", "layer=extra.7.0", "axes=-1,0.5&cell=99999999", "at=7777"]) {
    const other = await lab.open(`${own}?${odd}`);
    await other.locator(".run-page[data-ready]").waitFor();
    if (odd.startsWith("at=")) await other.getByText("expected an iteration that the history holds").waitFor();
    else await other.locator('.map[data-elites]:not([data-elites="0"])').waitFor();
    if (odd.startsWith("layer=")) assert.equal(await choice(other, "Colour").inputValue(), "objective");
    await other.context().close();
  }
  noErrors();
});

test("a layer that a link asks for is called by its name", async () => {
  const page = await lab.open(url);
  await openRun(page, "first");
  // The names of layers come after the picture.
  await page.route("**/api/runs/*/saved", async (route) => {
    await page.locator('.map[data-layer="component.3"]').waitFor();
    await route.continue();
  });
  await page.goto(`${page.url().split("?")[0]}?layer=component.3`);
  await page.reload();
  await page.locator('.map[data-layer="x3"]').waitFor();
  // What the page asked for before it was loaded again waits for a picture that is gone.
  await page.unrouteAll({ behavior: "ignoreErrors" });
  noErrors();
});

test("the elite that is shown is that of the newest checkpoint", async () => {
  const running = lab.start("run", ...SMALL, "--iterations", "100000000", "--out", lab.path("runs/early"), "--quiet");
  const page = await lab.open(url);
  await row(page, "early").getByText("running").waitFor();
  await openRun(page, "early");
  await page.locator(".elite").getByText(/there is no checkpoint of this run yet|iteration/).first().waitFor();
  await lab.stop(running);
  const summary = JSON.parse(lab.call("show", lab.path("runs/early"), "--json"));
  await page.locator(".elite").getByText(`iteration ${summary.iterations.toLocaleString("en-US")}`, { exact: true }).waitFor();
  // What is copied is what the program prints, seeds with all their digits.
  const printed = lab.call("elite", lab.path("runs/early"), "--best", "--json");
  const { json } = await (await page.request.get(`${url}api/runs/${page.url().split("/run/")[1].split("?")[0]}/elite`)).json();
  assert.deepEqual(json.match(/"seed":\s*(\d+)/)[1], printed.match(/"seed":\s*(\d+)/)[1]);
  rmSync(lab.path("runs/early"), { recursive: true });
  noErrors();
});
