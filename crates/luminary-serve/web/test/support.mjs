// How tests make runs, start servers and open pages.

import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { chromium } from "playwright-core";

const PROGRAM = process.env.LUMINARY_PROGRAM ?? "luminary";

// A source file of the page, to be tried without a page.
export async function load(name) {
  const path = new URL(`../src/${name}.ts`, import.meta.url).pathname;
  const result = await build({ entryPoints: [path], bundle: true, write: false, format: "esm" });
  return import(`data:text/javascript,${encodeURIComponent(result.outputFiles[0].text)}`);
}

export const SMALL = ["--domain", "lp-sphere", "--n", "10", "--resolution", "20x20", "--emitters", "3", "--batch-size", "8",
  "--set", "archive.learning_rate=0.01", "--threads", "1"];

// A folder with runs, servers over it and pages of them; all of it is gone at the end.
export class Lab {
  folder = mkdtempSync(join(tmpdir(), "luminary-live-"));
  children = [];
  browser = null;
  errors = [];

  path(name) {
    return join(this.folder, name);
  }

  // Runs the program to its end.
  call(...args) {
    const done = spawnSync(PROGRAM, args, { cwd: this.folder, encoding: "utf8" });
    if (done.status !== 0) throw new Error(`luminary ${args.join(" ")}: ${done.stderr}`);
    return done.stdout;
  }

  run(name, ...args) {
    return this.call("run", ...SMALL, "--out", this.path(`runs/${name}`), "--quiet", ...args);
  }

  start(...args) {
    const child = spawn(PROGRAM, args, { cwd: this.folder, stdio: ["ignore", "pipe", "inherit"] });
    this.children.push(child);
    return child;
  }

  // Starts a server and gives the address that it prints.
  async serve(...args) {
    const child = this.start("serve", this.path("runs"), ...args);
    const line = await new Promise((resolve, reject) => {
      child.stdout.once("data", (data) => resolve(String(data)));
      child.once("exit", () => reject(new Error("the server ended")));
    });
    return { child, url: line.trim().split(" ").at(-1) };
  }

  async stop(child) {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    await ended;
  }

  // A page of the server, whose errors and requests to elsewhere fail the test.
  async open(url, options = {}, prepare = async () => {}) {
    this.browser ??= await chromium.launch({
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
    });
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(60000);
    const own = new URL(url).origin;
    page.on("pageerror", (error) => this.errors.push(`${error}`));
    page.on("console", (message) => {
      // A server that is restarted cannot be reached for a moment.
      if (message.type() === "error" && !/ERR_CONNECTION|ERR_INCOMPLETE|status of 4/.test(message.text())) this.errors.push(message.text());
    });
    page.on("request", (request) => {
      if (!request.url().startsWith(own) && !request.url().startsWith("blob:")) this.errors.push(`a request to ${request.url()}`);
    });
    await prepare(page);
    await page.goto(url);
    return page;
  }

  async close() {
    await this.browser?.close();
    for (const child of this.children) if (child.exitCode === null && child.signalCode === null) await this.stop(child);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

// The middle of a heatmap's tile, in pixels of the page.
export async function tileCentre(page, column, row, columns, rows) {
  const map = page.locator(".map");
  await map.scrollIntoViewIfNeeded();
  const box = await map.boundingBox();
  const [left, top, width, height] = (await map.getAttribute("data-area")).split(" ").map(Number);
  return [box.x + left + ((column + 0.5) / columns) * width, box.y + top + (1 - (row + 0.5) / rows) * height];
}
