// The data of the archive, and which cell and elite each place of the heatmap shows.

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
// Higher is better in `objectives`; what is minimised is shown with its own sign.
const ownSign = (objective) => (data.minimise ? 0 - objective : objective);
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

// --- Axes ------------------------------------------------------------------------------------------------------------

function ticks(lower, upper, target) {
  const raw = (upper - lower) / target;
  const power = 10 ** Math.floor(Math.log10(raw));
  const m = raw / power;
  const step = (m < 1.415 ? 1 : m < 3.163 ? 2 : m < 7.072 ? 5 : 10) * power;
  const out = [];
  for (let i = Math.ceil(lower / step - 1e-9); i <= upper / step + 1e-9 && out.length < 50; i++) out.push(i * step);
  return out;
}
