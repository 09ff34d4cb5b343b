// The interactive heatmap of a report. Plain JavaScript without dependencies; all text goes through textContent.
(function () {
  "use strict";

  const element = (id) => document.getElementById(id);
  const data = JSON.parse(element("data").textContent);

  // --- Data: little-endian arrays in base64 -------------------------------------------------------------------------

  function bytes(text) {
    const binary = atob(text);
    const out = new Uint8Array(binary.length);
    for (let i = 0; i < out.length; i++) out[i] = binary.charCodeAt(i);
    return out;
  }
  const doubles = (text) => new Float64Array(bytes(text).buffer);

  const measures = data.measures;
  const nMeasures = measures.length;
  const nElites = data.n_elites;
  const nParameters = data.n_parameters;
  const cells = doubles(data.cells);
  const objectives = doubles(data.objectives);
  const eliteMeasures = doubles(data.elite_measures);
  const centroids = data.grid ? null : doubles(data.centroids);
  const palette = bytes(data.palette); // RGB: empty, not a number, then from low to high

  // Decoded when the first elite is shown: this is by far the largest part.
  let solutionRows = null;
  function solution(elite) {
    if (!solutionRows) {
      const buffer = bytes(element("solutions").textContent).buffer;
      solutionRows = data.solution_bytes === 4 ? new Float32Array(buffer) : new Float64Array(buffer);
    }
    return solutionRows.subarray(elite * nParameters, (elite + 1) * nParameters);
  }

  const rank = (objective) => (Number.isNaN(objective) ? -Infinity : objective);
  const order = Array.from({ length: nElites }, (_, i) => i).sort(
    (a, b) => rank(objectives[b]) - rank(objectives[a]) || a - b,
  );
  const rankOf = new Int32Array(nElites);
  order.forEach((elite, i) => (rankOf[elite] = i));

  // --- Models: which tile a point belongs to, and which elite a tile shows -------------------------------------------
  // Coordinates are fractions of the picture from the lower left.

  function intervalOf(cell, dimension) {
    let stride = 1;
    for (let i = dimension + 1; i < nMeasures; i++) stride *= data.grid[i];
    return Math.floor(cell / stride) % data.grid[dimension];
  }

  const fractionOf = (value, m) => (value - m.lower) / (m.upper - m.lower);

  function bestElites(nTiles, tileOf) {
    const best = new Int32Array(nTiles).fill(-1);
    const count = new Int32Array(nTiles);
    for (let e = 0; e < nElites; e++) {
      const tile = tileOf(e);
      count[tile]++;
      if (best[tile] < 0 || rank(objectives[e]) > rank(objectives[best[tile]])) best[tile] = e;
    }
    return { best, count };
  }

  function gridModel(columns, rows, tileOf) {
    const clamp = (v, n) => Math.max(0, Math.min(n - 1, v));
    return {
      ...bestElites(columns * rows, tileOf),
      tileOf,
      at: (x, y) => clamp(Math.floor(y * rows), rows) * columns + clamp(Math.floor(x * columns), columns),
      center: (tile) => [((tile % columns) + 0.5) / columns, (Math.floor(tile / columns) + 0.5) / rows],
      step(tile, dx, dy) {
        const column = clamp((tile % columns) + dx, columns);
        return clamp(Math.floor(tile / columns) + dy, rows) * columns + column;
      },
      name: (tile) =>
        rows === 1 ? `Cell ${tile % columns}` : `Cell (${tile % columns}, ${Math.floor(tile / columns)})`,
    };
  }

  // Nearest centroid, with the centroids in square buckets; rings of buckets are searched from the inside out.
  function centroidModel() {
    const n = data.n_cells;
    const [mx, my] = [measures[0], nMeasures > 1 ? measures[1] : { lower: 0, upper: 1 }];
    const unit = Math.max(mx.upper - mx.lower, nMeasures > 1 ? my.upper - my.lower : 0);
    const width = (mx.upper - mx.lower) / unit;
    const height = nMeasures > 1 ? (my.upper - my.lower) / unit : 0.001;
    const px = new Float64Array(n);
    const py = new Float64Array(n);
    const side = Math.max(1, Math.floor(Math.sqrt(n / 2)));
    const size = Math.max(width, height) / side;
    const bucketOf = (v) => Math.max(0, Math.min(side - 1, Math.floor(v / size)));
    const buckets = Array.from({ length: side * side }, () => []);
    for (let i = 0; i < n; i++) {
      px[i] = fractionOf(centroids[i * nMeasures], mx) * width;
      py[i] = nMeasures > 1 ? fractionOf(centroids[i * nMeasures + 1], my) * height : 0;
      buckets[bucketOf(py[i]) * side + bucketOf(px[i])].push(i);
    }
    function nearest(x, y) {
      const [bx, by] = [bucketOf(x), bucketOf(y)];
      let [found, distance] = [-1, Infinity];
      for (let ring = 0; ring <= side; ring++) {
        // Everything in this ring is at least ring - 1 buckets away.
        if (found >= 0 && ring > 0 && ((ring - 1) * size) ** 2 > distance) break;
        for (let v = by - ring; v <= by + ring; v++) {
          if (v < 0 || v >= side) continue;
          const edge = v === by - ring || v === by + ring;
          for (let u = bx - ring; u <= bx + ring; u += edge || ring === 0 ? 1 : 2 * ring) {
            if (u < 0 || u >= side) continue;
            for (const i of buckets[v * side + u]) {
              const d = (px[i] - x) ** 2 + (py[i] - y) ** 2;
              if (d < distance || (d === distance && i < found)) [found, distance] = [i, d];
            }
          }
        }
      }
      return found;
    }
    const tileOf = (elite) => cells[elite];
    return {
      ...bestElites(n, tileOf),
      tileOf,
      at: (x, y) => nearest(x * width, y * height),
      center: (tile) => [px[tile] / width, nMeasures > 1 ? py[tile] / height : 0.5],
      step(tile, dx, dy) {
        let [found, distance] = [tile, Infinity];
        for (let i = 0; i < n; i++) {
          const along = (px[i] - px[tile]) * dx + (py[i] - py[tile]) * dy;
          const across = Math.abs((px[i] - px[tile]) * dy) + Math.abs((py[i] - py[tile]) * dx);
          const d = along * along + across * across;
          if (along > 0 && across <= along && d < distance) [found, distance] = [i, d];
        }
        return found;
      },
      name: (tile) => `Cell ${tile}`,
    };
  }

  const MAX_TILES = 2000;

  function makeModel(x, y) {
    if (!data.grid && nMeasures <= 2) return centroidModel();
    if (!data.grid) {
      const side = Math.max(10, Math.min(60, Math.round(Math.sqrt(data.n_cells))));
      const bin = (elite, m) => {
        const fraction = fractionOf(centroids[cells[elite] * nMeasures + m], measures[m]);
        return Math.max(0, Math.min(side - 1, Math.floor(fraction * side)));
      };
      return gridModel(side, side, (e) => bin(e, y) * side + bin(e, x));
    }
    const columns = Math.min(data.grid[x], MAX_TILES);
    const rows = nMeasures > 1 ? Math.min(data.grid[y], MAX_TILES) : 1;
    const reduce = (interval, from, to) => Math.floor((interval * to) / from);
    return gridModel(columns, rows, (e) => {
      const column = reduce(intervalOf(cells[e], x), data.grid[x], columns);
      return rows === 1 ? column : reduce(intervalOf(cells[e], y), data.grid[y], rows) * columns + column;
    });
  }

  // --- Numbers for people ---------------------------------------------------------------------------------------------

  function format(value, digits) {
    if (!Number.isFinite(value)) return String(value).replace("Infinity", "∞").replace("-", "−");
    const size = Math.abs(value);
    const plain = value === 0 || (size >= 1e-4 && size < 1e9);
    const text = plain
      ? String(Number(value.toPrecision(digits)))
      : value.toExponential(digits - 1).replace(/\.?0+e/, "e").replace("e+", "e");
    return text.replace(/-/g, "−");
  }

  function ticks(lower, upper, target) {
    const raw = (upper - lower) / target;
    const power = 10 ** Math.floor(Math.log10(raw));
    const m = raw / power;
    const step = (m < 1.415 ? 1 : m < 3.163 ? 2 : m < 7.072 ? 5 : 10) * power;
    const out = [];
    for (let i = Math.ceil(lower / step - 1e-9); i <= upper / step + 1e-9 && out.length < 50; i++) out.push(i * step);
    return out;
  }

  // --- The picture ----------------------------------------------------------------------------------------------------

  const map = element("map");
  const canvas = element("heatmap");
  const overlay = element("overlay");
  let axes = [0, Math.min(1, nMeasures - 1)];
  let model = null;
  let view = null; // where the tiles are on the canvas, in device pixels, and the tile of each pixel
  let shown = -1; // the tile under the pointer or the keyboard cursor
  let pinned = -1; // the tile that was clicked

  function level(objective) {
    if (Number.isNaN(objective)) return 1;
    const [low, high] = data.range;
    return 2 + Math.round(Math.max(0, Math.min(1, (objective - low) / (high - low))) * 253);
  }

  function layout() {
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const width = Math.round(map.clientWidth * ratio);
    const narrow = map.clientWidth < 420;
    const left = Math.round((narrow ? 50 : 64) * ratio);
    const right = Math.round((narrow ? 66 : 92) * ratio);
    const [top, bottom] = [Math.round(10 * ratio), Math.round(46 * ratio)];
    const inner = Math.max(20, width - left - right);
    const innerHeight = nMeasures === 1 ? Math.round(90 * ratio) : inner;
    const height = innerHeight + top + bottom;
    for (const c of [canvas, overlay]) {
      c.width = width;
      c.height = height;
    }
    // For tests: where the tiles are inside the element, in CSS pixels.
    map.dataset.area = [left, top, inner, innerHeight].map((v) => v / ratio).join(" ");
    view = { ratio, narrow, left, top, width: inner, height: innerHeight, owner: new Int32Array(inner * innerHeight) };
    for (let row = 0; row < view.height; row++) {
      const y = 1 - (row + 0.5) / view.height;
      for (let column = 0; column < view.width; column++) {
        view.owner[row * view.width + column] = model.at((column + 0.5) / view.width, y);
      }
    }
  }

  function draw() {
    layout();
    const context = canvas.getContext("2d");
    const image = context.createImageData(view.width, view.height);
    for (let i = 0; i < view.owner.length; i++) {
      const elite = model.best[view.owner[i]];
      const color = 3 * (elite < 0 ? 0 : level(objectives[elite]));
      image.data[4 * i] = palette[color];
      image.data[4 * i + 1] = palette[color + 1];
      image.data[4 * i + 2] = palette[color + 2];
      image.data[4 * i + 3] = 255;
    }
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.putImageData(image, view.left, view.top);
    drawAxes(context);
    drawColorBar(context);
    drawCursor();
  }

  function drawAxes(context) {
    const { ratio, left, top, width, height } = view;
    context.lineWidth = ratio;
    context.strokeStyle = "#52606d";
    context.strokeRect(left, top, width, height);
    const font = (size) => `${size * ratio}px "Luminary Sans", Inter, Arial, sans-serif`;
    const [mx, my] = [measures[axes[0]], measures[axes[1]]];
    context.beginPath();
    context.font = font(12);
    context.fillStyle = "#52606d";
    context.textAlign = "center";
    context.textBaseline = "top";
    for (const value of ticks(mx.lower, mx.upper, Math.max(3, width / ratio / 90))) {
      const x = left + fractionOf(value, mx) * width;
      context.moveTo(x, top + height);
      context.lineTo(x, top + height + 4 * ratio);
      context.fillText(format(value, 5), x, top + height + 7 * ratio);
    }
    context.font = font(13);
    context.fillStyle = "#1f2933";
    context.fillText(shorten(context, mx.name, width), left + width / 2, top + height + 27 * ratio);
    if (nMeasures > 1) {
      context.font = font(12);
      context.fillStyle = "#52606d";
      context.textAlign = "right";
      context.textBaseline = "middle";
      for (const value of ticks(my.lower, my.upper, Math.max(3, height / ratio / 70))) {
        const y = top + height - fractionOf(value, my) * height;
        context.moveTo(left - 4 * ratio, y);
        context.lineTo(left, y);
        context.fillText(format(value, 5), left - 7 * ratio, y);
      }
      context.font = font(13);
      context.fillStyle = "#1f2933";
      upwards(context, shorten(context, my.name, height), 10 * ratio, top + height / 2);
    }
    context.stroke();
  }

  function drawColorBar(context) {
    const { ratio, left, top, width, height } = view;
    const [x, barWidth] = [left + width + 16 * ratio, 14 * ratio];
    for (let i = 0; i < height; i++) {
      const color = 3 * (2 + Math.round((1 - i / height) * 253));
      context.fillStyle = `rgb(${palette[color]},${palette[color + 1]},${palette[color + 2]})`;
      context.fillRect(x, top + i, barWidth, 1.5);
    }
    context.strokeRect(x, top, barWidth, height);
    context.font = `${12 * ratio}px "Luminary Sans", Inter, Arial, sans-serif`;
    context.fillStyle = "#52606d";
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.beginPath();
    const [low, high] = data.range;
    for (const value of ticks(low, high, Math.max(2, height / ratio / 70))) {
      const y = top + height - ((value - low) / (high - low)) * height;
      context.moveTo(x + barWidth, y);
      context.lineTo(x + barWidth + 4 * ratio, y);
      context.fillText(format(value, 5), x + barWidth + 7 * ratio, y);
    }
    context.stroke();
    if (view.narrow) return;
    context.font = `${13 * ratio}px "Luminary Sans", Inter, Arial, sans-serif`;
    context.fillStyle = "#1f2933";
    upwards(context, shorten(context, data.objective, height), left + width + 82 * ratio, top + height / 2);
  }

  function upwards(context, text, x, y) {
    context.save();
    context.translate(x, y);
    context.rotate(-Math.PI / 2);
    context.textAlign = "center";
    context.fillText(text, 0, 0);
    context.restore();
  }

  function shorten(context, text, width) {
    if (context.measureText(text).width <= width) return text;
    let kept = Array.from(text).slice(0, 300);
    while (kept.length > 1 && context.measureText(kept.join("") + "…").width > width) kept.pop();
    return kept.join("") + "…";
  }

  // Outlines the shown and the pinned tile; a ring makes tiny tiles visible.
  function drawCursor() {
    const context = overlay.getContext("2d");
    context.clearRect(0, 0, overlay.width, overlay.height);
    for (const [tile, color] of [[shown, "#1f2933"], [pinned, "#d55e00"]]) {
      if (tile < 0) continue;
      const { left, top, width, height, owner, ratio } = view;
      context.fillStyle = color;
      const [cx, cy] = model.center(tile);
      let size = 0;
      for (let i = 0; i < owner.length; i++) {
        if (owner[i] !== tile) continue;
        size++;
        const [column, row] = [i % width, Math.floor(i / width)];
        const inside =
          column > 0 && column < width - 1 && row > 0 && row < height - 1 &&
          owner[i - 1] === tile && owner[i + 1] === tile && owner[i - width] === tile && owner[i + width] === tile;
        if (!inside) context.fillRect(left + column, top + row, Math.ceil(ratio), Math.ceil(ratio));
      }
      if (size < 400 * ratio * ratio) {
        context.strokeStyle = color;
        context.lineWidth = 2 * ratio;
        context.beginPath();
        context.arc(left + cx * width, top + (1 - cy) * height, 11 * ratio, 0, 2 * Math.PI);
        context.stroke();
      }
    }
  }

  // --- The elite ------------------------------------------------------------------------------------------------------

  const MAX_VALUES = 1000;

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
    const rows = [[data.objective, objectives[elite], "objective"]];
    measures.forEach((m, i) => rows.push([m.name, eliteMeasures[elite * nMeasures + i], ""]));
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
      name.textContent = data.parameters.length ? data.parameters[i] : `x${i + 1}`;
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
    context.fillStyle = "#0072b2";
    values.forEach((v, i) => {
      if (!Number.isFinite(v)) return;
      const y = zero - Math.max(v, 0) * scale;
      context.fillRect(i * width, y, Math.max(width - gap, 0.7), Math.abs(v) * scale);
    });
    context.fillStyle = "#52606d";
    context.fillRect(0, zero - ratio / 2, bars.width, ratio);
  }

  function say(tile) {
    const elite = model.best[tile];
    const place = model.name(tile);
    element("status").textContent =
      elite < 0
        ? `${place} is empty`
        : `${place}: ${data.objective} ${format(objectives[elite], 5)}, ` +
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

  function tileAt(event) {
    const box = canvas.getBoundingClientRect();
    const scale = canvas.width / box.width;
    const x = (event.clientX - box.left) * scale - view.left;
    const y = (event.clientY - box.top) * scale - view.top;
    if (x < 0 || y < 0 || x >= view.width || y >= view.height) return -1;
    return view.owner[Math.floor(y) * view.width + Math.floor(x)];
  }

  map.addEventListener("pointermove", (event) => show(tileAt(event)));
  map.addEventListener("pointerleave", () => show(-1));
  map.addEventListener("click", (event) => {
    const tile = tileAt(event);
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
      objective: objectives[elite],
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
    model = makeModel(axes[0], axes[1]);
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
    button.textContent = format(objectives[elite], 6);
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

  model = makeModel(axes[0], axes[1]);
  relayout();
  window.addEventListener("resize", relayout);
  document.fonts.ready.then(draw);
  map.dataset.ready = "true";
})();
