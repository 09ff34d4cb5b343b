// Runs at a glance: a table that can be searched, filtered and sorted, with sweeps as groups.

import type { RunLine } from "./api";
import { h, select } from "./dom";
import { brief, elapsed, grouped, percent, score, when } from "./numbers";
import type { View } from "./view";

interface Column {
  key: string;
  name: string;
  value: (run: RunLine) => number | string | null | undefined;
  cell: (run: RunLine) => Node | string;
}

const STATES = ["running", "finished", "interrupted", "failed", "created", "damaged"];

const COLUMNS: Column[] = [
  { key: "state", name: "State", value: (run) => STATES.indexOf(run.state), cell: (run) => pill(run) },
  { key: "problem", name: "Problem", value: (run) => run.problem, cell: (run) => h("span", { title: run.problem ?? run.cause ?? "" }, run.problem ?? run.cause ?? "") },
  { key: "algorithm", name: "Algorithm", value: (run) => run.algorithm, cell: (run) => run.algorithm ?? "–" },
  { key: "seed", name: "Seed", value: (run) => run.seed, cell: (run) => String(run.seed ?? "–") },
  { key: "progress", name: "Progress", value: progress, cell: progressBar },
  { key: "qd_score", name: "QD score", value: (run) => run.qd_score, cell: (run) => score(run.qd_score) },
  {
    key: "coverage",
    name: "Coverage",
    value: (run) => run.coverage,
    cell: (run) => (run.has_limit === false ? `${grouped(run.elites)} elites` : percent(run.coverage)),
  },
  { key: "best", name: "Best", value: (run) => run.best, cell: (run) => score(run.best, 4) },
  { key: "rate", name: "Evals/s", value: (run) => run.rate, cell: (run) => brief(run.rate) },
  { key: "seconds", name: "Time", value: (run) => run.seconds, cell: (run) => elapsed(run.seconds) },
  { key: "invalid", name: "Failures", value: (run) => run.invalid, cell: (run) => (run.invalid ? brief(run.invalid) : "0") },
];

export function pill(run: RunLine): HTMLElement {
  return h("span", { class: `pill ${STATES.includes(run.state) ? run.state : ""}`, title: run.cause ?? "" }, run.state);
}

export function progress(run: RunLine): number {
  return run.iterations_wanted ? Math.min(1, (run.iterations ?? 0) / run.iterations_wanted) : 0;
}

export function progressBar(run: RunLine): HTMLElement {
  const share = progress(run);
  // A long list of full bars says nothing.
  if (run.state === "finished" || run.state === "damaged") return h("span", { class: "muted" }, run.state === "finished" ? "100 %" : "–");
  const bar = h("span", { class: "progress" }, h("span"));
  (bar.firstChild as HTMLElement).style.width = `${100 * share}%`;
  return h("span", { class: "with-bar" }, bar, `${Math.floor(100 * share)} %`);
}

const byName = (a: RunLine, b: RunLine) => a.name.localeCompare(b.name, "en", { numeric: true });

export class ListView implements View {
  readonly element: HTMLElement;
  readonly run = null;
  title = "Runs";
  private runs: RunLine[] = [];
  private search = h("input", { type: "search", placeholder: "Search", "aria-label": "Search runs", oninput: () => this.draw() });
  private state: string;
  private sortBy: string;
  private isDown: boolean;
  private chosen: Set<string>;
  private folded: Set<string>;
  private rows = new Map<string, { text: string; row: HTMLElement }>();
  private head = h("tr");
  private body = h("tbody");
  private count = h("span", { class: "muted", role: "status" });
  private compare = h("a", { class: "button", href: "#/" }, "Compare");
  // On a narrow screen there are no headings to click.
  private sorting = h("span", { class: "narrow-only" });

  // What was searched, sorted and chosen is in the address, so that it is the same after a look at a run.
  constructor(query: URLSearchParams, private changed: (query: URLSearchParams) => void) {
    const names = (key: string) => new Set((query.get(key) ?? "").split(",").filter(Boolean));
    this.chosen = names("runs");
    this.folded = new Set(query.getAll("folded"));
    this.search.value = query.get("search") ?? "";
    this.state = STATES.includes(query.get("state") ?? "") ? query.get("state")! : "";
    this.sortBy = query.get("sort") ?? "created";
    this.isDown = query.get("order") !== "up";
    const states: [string, string][] = [["", "All states"], ...STATES.map((state): [string, string] => [state, state])];
    const filter = select("", states, this.state, (value) => {
      this.state = value;
      this.draw();
    });
    filter.prepend(h("span", { class: "unseen" }, "State "));
    const table = h("table", { class: "runs" }, h("thead", {}, this.head), this.body);
    const tools = h("div", { class: "tools" }, this.search, filter, this.sorting, this.count, this.compare);
    this.element = h("section", {}, tools, h("div", { class: "scroll card flush" }, table));
    this.drawHead();
  }

  list(runs: RunLine[]) {
    this.runs = runs;
    const ids = new Set(runs.map((run) => run.id));
    for (const id of this.rows.keys()) if (!id.startsWith("group:") && !ids.has(id)) this.rows.delete(id);
    // The first list is empty when a page begins; what was chosen may still come.
    if (runs.length) for (const id of this.chosen) if (!ids.has(id)) this.chosen.delete(id);
    this.draw();
  }

  private drawHead() {
    const heading = (key: string, name: string) => {
      const sorted = this.sortBy === key ? (this.isDown ? "descending" : "ascending") : "none";
      const button = h("button", { type: "button", onclick: () => this.sort(key) }, name, sorted === "none" ? "" : this.isDown ? " ↓" : " ↑");
      return h("th", { "aria-sort": sorted, class: `c-${key}` }, button);
    };
    const orders = [["created", "newest"], ["name", "name"], ...COLUMNS.map(({ key, name }) => [key, name])] as [string, string][];
    this.sorting.replaceChildren(select("By ", orders, this.sortBy, (key) => this.sort(key)));
    this.head.replaceChildren(h("th", { class: "c-pick" }, h("span", { class: "unseen" }, "Compare")), heading("name", "Run"), ...COLUMNS.map(({ key, name }) => heading(key, name)));
  }

  private sort(key: string) {
    this.isDown = this.sortBy === key ? !this.isDown : key !== "name";
    this.sortBy = key;
    this.drawHead();
    this.draw();
  }

  // The keys of the list: a slash goes to the search.
  key(event: KeyboardEvent) {
    if (event.key !== "/" || event.target instanceof HTMLInputElement) return;
    event.preventDefault();
    this.search.focus();
  }

  private remember() {
    const query = new URLSearchParams();
    if (this.search.value) query.set("search", this.search.value);
    if (this.state) query.set("state", this.state);
    if (this.sortBy !== "created") query.set("sort", this.sortBy);
    if (!this.isDown) query.set("order", "up");
    if (this.chosen.size) query.set("runs", [...this.chosen].join(","));
    for (const group of this.folded) query.append("folded", group);
    this.changed(query);
  }

  private draw() {
    this.remember();
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = (run: RunLine) => {
      const text = `${run.name} ${run.problem ?? ""} ${run.algorithm ?? ""} ${run.state} seed ${run.seed ?? ""}`.toLowerCase();
      return (!this.state || run.state === this.state) && words.every((word) => text.includes(word));
    };
    const found = this.runs.filter(matches).sort((a, b) => this.order(a, b));
    this.count.textContent = `${found.length} of ${this.runs.length} run${this.runs.length === 1 ? "" : "s"}`;
    const wanted: HTMLElement[] = [];
    const seen = new Set<string>();
    for (const run of found) {
      if (!run.group) wanted.push(this.row(run));
      else if (!seen.has(run.group)) {
        // A sweep stands where its first run would.
        seen.add(run.group);
        const members = found.filter((other) => other.group === run.group);
        // Runs of a sweep begin within moments of each other; their settings say more.
        if (this.sortBy === "created") members.sort(byName);
        wanted.push(this.groupRow(run.group, members));
        if (!this.folded.has(run.group)) wanted.push(...members.map((member) => this.row(member)));
      }
    }
    const isSame = wanted.length === this.body.children.length && wanted.every((row, i) => this.body.children[i] === row);
    if (!isSame) this.body.replaceChildren(...wanted);
    if (!wanted.length) {
      const text = this.runs.length ? "No run matches." : "No runs here yet. They appear by themselves: try `luminary demo`.";
      this.body.replaceChildren(h("tr", {}, h("td", { colspan: COLUMNS.length + 2, class: "empty" }, text)));
    }
    this.compare.classList.toggle("disabled", this.chosen.size < 2);
    this.compare.textContent = this.chosen.size < 2 ? "Choose runs to compare" : `Compare ${this.chosen.size} runs`;
    this.compare.setAttribute("href", this.chosen.size < 2 ? "#/" : `#/compare?runs=${[...this.chosen].join(",")}`);
  }

  private order(a: RunLine, b: RunLine): number {
    const column = COLUMNS.find(({ key }) => key === this.sortBy);
    const value = (run: RunLine) => (this.sortBy === "name" ? run.name : column ? column.value(run) : run.created) ?? null;
    const [x, y] = [value(a), value(b)];
    // What is not known comes last, whichever way is sorted.
    if (x === null || y === null) return Number(x === null) - Number(y === null) || byName(a, b);
    const sign = this.isDown ? -1 : 1;
    const by = typeof x === "string" ? x.localeCompare(String(y)) : x - Number(y);
    return sign * by || byName(a, b);
  }

  private row(run: RunLine): HTMLElement {
    const text = JSON.stringify(run);
    const known = this.rows.get(run.id);
    if (known?.text === text) return known.row;
    const pick = h("input", { type: "checkbox", "aria-label": `Compare ${run.name}`, onchange: () => this.pick(run.id, pick.checked) });
    pick.checked = this.chosen.has(run.id);
    const name = run.group ? run.name.slice(run.group.length + 1) || run.name : run.name;
    const cells = [
      h("td", { class: "c-pick" }, pick),
      h("th", { scope: "row", class: "c-name" }, h("a", { href: `#/run/${run.id}`, title: `${run.name}, begun ${when(run.created)}` }, name)),
      ...COLUMNS.map(({ key, name, cell }) => h("td", { class: `c-${key}`, "data-name": name }, cell(run))),
    ];
    const row = known?.row ?? h("tr", { "data-id": run.id });
    row.className = `${run.group ? "member" : ""} ${run.invalid ? "failing" : ""}`;
    row.replaceChildren(...cells);
    this.rows.set(run.id, { text, row });
    return row;
  }

  private pick(id: string, isChosen: boolean) {
    if (isChosen) this.chosen.add(id);
    else this.chosen.delete(id);
    this.draw();
  }

  private groupRow(group: string, members: RunLine[]): HTMLElement {
    const isFolded = this.folded.has(group);
    const running = members.filter((run) => run.state === "running").length;
    const text = `${members.length} runs${running ? `, ${running} running` : ""}`;
    const fold = () => {
      if (!this.folded.delete(group)) this.folded.add(group);
      this.draw();
    };
    const ids = members.map((run) => run.id).join(",");
    const known = this.rows.get(`group:${group}`);
    const key = `${text}/${isFolded}/${ids}`;
    if (known?.text === key) return known.row;
    const row = known?.row ?? h("tr", { class: "group" });
    row.replaceChildren(
      h("td", { colspan: COLUMNS.length + 2 },
        h("button", { type: "button", "aria-expanded": String(!isFolded), onclick: fold }, isFolded ? "▸ " : "▾ ", group),
        h("span", { class: "muted" }, ` ${text} `),
        h("a", { href: `#/compare?runs=${ids}` }, "compare")),
    );
    this.rows.set(`group:${group}`, { text: key, row });
    return row;
  }
}
