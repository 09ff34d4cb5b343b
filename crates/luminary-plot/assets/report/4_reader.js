// Shows the elite of the chosen cell, and follows pointer and keys. All text goes through textContent.

// --- The elite ------------------------------------------------------------------------------------------------------

const MAX_VALUES = 1000;

// Decoded with the first elite.
let fieldValues = null;

// Without a tile, the best elite is shown.
function showDetails(chosen) {
  const tile = chosen < 0 && nElites ? start() : chosen;
  const elite = tile < 0 ? -1 : model.best[tile];
  const name = tile < 0 ? "No elites yet" : elite < 0 ? `${model.name(tile)} is empty` : model.name(tile);
  element("place-name").textContent = chosen < 0 && nElites ? `Best elite: ${name}` : name;
  element("pinned").hidden = pinned < 0;
  element("elite").hidden = elite < 0;
  map.dataset.tile = tile;
  map.dataset.elite = elite;
  if (elite < 0) return;
  const rows = [[data.objective, ownSign(objectives[elite]), "objective"]];
  measures.forEach((m, i) => rows.push([m.name, eliteMeasures[elite * nMeasures + i], ""]));
  if (!fieldValues) fieldValues = data.fields.map((field) => doubles(field.values));
  data.fields.forEach((field, i) => rows.push([field.name, fieldValues[i][elite], ""]));
  const table = element("numbers");
  table.replaceChildren(...rows.map(([name, value, kind]) => tableRow(name, format(value, 8), kind)));
  table.append(tableRow("Rank by objective", `${rankOf[elite] + 1} of ${nElites}`, ""));
  if (model.count[tile] > 1) table.append(tableRow("Elites that share this place", String(model.count[tile]), ""));
  showSolution(solution(elite));
}

function tableRow(name, value, kind) {
  const row = document.createElement("tr");
  row.className = kind;
  const head = document.createElement("th");
  head.scope = "row";
  head.textContent = name;
  const cell = document.createElement("td");
  cell.textContent = value;
  row.append(head, cell);
  return row;
}

function showSolution(values) {
  const items = [];
  for (let i = 0; i < Math.min(values.length, MAX_VALUES); i++) {
    const item = document.createElement("li");
    const name = document.createElement("span");
    name.textContent = componentName(i);
    item.append(name, format(values[i], 6));
    items.push(item);
  }
  if (values.length > MAX_VALUES) {
    const more = document.createElement("li");
    more.textContent = `… ${values.length - MAX_VALUES} more`;
    items.push(more);
  }
  element("values").replaceChildren(...items);
  drawBars(values);
}

function drawBars(values) {
  const bars = element("bars");
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  bars.width = Math.max(1, Math.round(bars.clientWidth * ratio));
  bars.height = Math.max(1, Math.round(bars.clientHeight * ratio));
  const context = bars.getContext("2d");
  let [low, high] = [0, 0];
  for (const v of values) if (Number.isFinite(v)) [low, high] = [Math.min(low, v), Math.max(high, v)];
  const scale = high > low ? (bars.height - 2) / (high - low) : 0;
  const zero = 1 + high * scale;
  const width = bars.width / values.length;
  const gap = width > 5 * ratio ? ratio : 0;
  context.fillStyle = pageColor("--accent");
  values.forEach((v, i) => {
    if (!Number.isFinite(v)) return;
    const y = zero - Math.max(v, 0) * scale;
    context.fillRect(i * width, y, Math.max(width - gap, 0.7), Math.abs(v) * scale);
  });
  context.fillStyle = pageColor("--muted");
  context.fillRect(0, zero - ratio / 2, bars.width, ratio);
}

function say(tile) {
  const elite = model.best[tile];
  const place = model.name(tile);
  element("status").textContent =
    elite < 0
      ? `${place} is empty`
      : `${place}: ${data.objective} ${format(ownSign(objectives[elite]), 5)}, ` +
        measures.map((m, i) => `${m.name} ${format(eliteMeasures[elite * nMeasures + i], 5)}`).join(", ");
}

// --- What the reader does -------------------------------------------------------------------------------------------

function show(tile) {
  if (tile === shown) return;
  shown = tile;
  drawCursor();
  showDetails(pinned >= 0 ? pinned : tile);
}

function pin(tile) {
  pinned = tile === pinned ? -1 : tile;
  drawCursor();
  showDetails(pinned >= 0 ? pinned : shown);
}

function select(tile) {
  shown = tile;
  pinned = -1;
  pin(tile);
  say(tile);
}

map.addEventListener("pointermove", (event) => show(tileAt(canvas, view, event)));
map.addEventListener("pointerleave", () => show(-1));
map.addEventListener("click", (event) => {
  const tile = tileAt(canvas, view, event);
  if (tile < 0) return;
  shown = tile;
  pin(tile);
  say(tile);
});

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

map.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const from = pinned >= 0 ? pinned : shown;
  const elite = from < 0 ? -1 : model.best[from];
  let tile = -1;
  if (event.key in ARROWS) tile = from < 0 ? start() : model.step(from, ...ARROWS[event.key]);
  else if (event.key === "Home") tile = start();
  else if (event.key === "PageUp" || event.key === "PageDown") tile = neighbourInRank(elite, event.key);
  else if ((event.key === "Enter" || event.key === " ") && from >= 0) pin(from);
  else if (event.key === "Escape") [pinned, shown] = [-1, -1];
  else return;
  event.preventDefault();
  if (tile >= 0) {
    pinned = -1;
    shown = tile;
    say(tile);
  }
  drawCursor();
  showDetails(pinned >= 0 ? pinned : shown);
});

// The best elite; the middle of an empty archive.
const start = () => (nElites ? model.tileOf(order[0]) : model.at(0.5, 0.5));

function neighbourInRank(elite, key) {
  if (!nElites) return -1;
  if (elite < 0) return start();
  const next = rankOf[elite] + (key === "PageUp" ? -1 : 1);
  return model.tileOf(order[Math.max(0, Math.min(nElites - 1, next))]);
}

element("copy").addEventListener("click", () => {
  const elite = Number(map.dataset.elite);
  if (!(elite >= 0)) return;
  const text = JSON.stringify({
    objective: ownSign(objectives[elite]),
    measures: Array.from(eliteMeasures.subarray(elite * nMeasures, (elite + 1) * nMeasures)),
    solution: Array.from(solution(elite)),
  });
  const done = (word) => {
    element("copy").textContent = word;
    setTimeout(() => (element("copy").textContent = "Copy as JSON"), 1500);
  };
  if (!navigator.clipboard) return done("No clipboard");
  navigator.clipboard.writeText(text).then(() => done("Copied"), () => done("Not allowed"));
});

function chooseAxes() {
  const choice = [Number(element("axis-x").value), Number(element("axis-y").value)];
  if (choice[0] === choice[1]) choice[1] = choice[0] === axes[1] ? axes[0] : axes[1];
  axes = choice;
  element("axis-x").value = axes[0];
  element("axis-y").value = axes[1];
  model = makeModel(archive, axes[0], axes[1]);
  shown = pinned = -1;
  draw();
  showDetails(-1);
}

if (nMeasures > 2) {
  for (const [i, id] of ["axis-x", "axis-y"].entries()) {
    const select = element(id);
    measures.forEach((m, k) => {
      const option = document.createElement("option");
      option.value = k;
      option.textContent = m.name;
      select.append(option);
    });
    select.value = axes[i];
    select.addEventListener("change", chooseAxes);
  }
  element("axes").hidden = false;
}

for (const elite of order.slice(0, 10)) {
  const item = document.createElement("li");
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = format(ownSign(objectives[elite]), 6);
  button.addEventListener("click", () => select(model.tileOf(elite)));
  item.append(button);
  element("best").append(item);
}

// A new width of the window needs a new picture.
let laidOut = 0;
function relayout() {
  if (map.clientWidth === laidOut) return;
  laidOut = map.clientWidth;
  draw();
  showDetails(pinned >= 0 ? pinned : shown);
}

model = makeModel(archive, axes[0], axes[1]);
relayout();
window.addEventListener("resize", relayout);
document.fonts.ready.then(draw);
map.dataset.ready = "true";
