// Which tile of a heatmap a point belongs to, and which elite a tile shows. Coordinates are fractions of the picture from
// the lower left. The report and the live view share this file; the report puts it into one scope with its own scripts.
//
// An archive is { measures, grid, centroids, nCells, nElites, cells, objectives }: measures with name and bounds, the
// intervals of each measure or the coordinates of all centroids, and cell and objective of each elite. Higher objectives
// are better.

export const rank = (objective) => (Number.isNaN(objective) ? -Infinity : objective);

export function intervalOf(grid, cell, dimension) {
  let stride = 1;
  for (let i = dimension + 1; i < grid.length; i++) stride *= grid[i];
  return Math.floor(cell / stride) % grid[dimension];
}

export const fractionOf = (value, m) => (value - m.lower) / (m.upper - m.lower);

function bestElites(archive, nTiles, tileOf) {
  const objectives = archive.objectives;
  const best = new Int32Array(nTiles).fill(-1);
  const count = new Int32Array(nTiles);
  for (let e = 0; e < archive.nElites; e++) {
    const tile = tileOf(e);
    count[tile]++;
    if (best[tile] < 0 || rank(objectives[e]) > rank(objectives[best[tile]])) best[tile] = e;
  }
  return { best, count };
}

function gridModel(archive, columns, rows, tileOf) {
  const clamp = (v, n) => Math.max(0, Math.min(n - 1, v));
  return {
    ...bestElites(archive, columns * rows, tileOf),
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
function centroidModel(archive) {
  const { measures, centroids, cells } = archive;
  const nMeasures = measures.length;
  const n = archive.nCells;
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
    ...bestElites(archive, n, tileOf),
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

// The tiles of an archive over two of its measures. Where several elites share a tile, the best is shown.
export function makeModel(archive, x, y) {
  const { measures, grid, centroids, cells } = archive;
  const nMeasures = measures.length;
  if (!grid && nMeasures <= 2) return centroidModel(archive);
  if (!grid) {
    const side = Math.max(10, Math.min(60, Math.round(Math.sqrt(archive.nCells))));
    const bin = (elite, m) => {
      const fraction = fractionOf(centroids[cells[elite] * nMeasures + m], measures[m]);
      return Math.max(0, Math.min(side - 1, Math.floor(fraction * side)));
    };
    return gridModel(archive, side, side, (e) => bin(e, y) * side + bin(e, x));
  }
  const columns = Math.min(grid[x], MAX_TILES);
  const rows = nMeasures > 1 ? Math.min(grid[y], MAX_TILES) : 1;
  const reduce = (interval, from, to) => Math.floor((interval * to) / from);
  return gridModel(archive, columns, rows, (e) => {
    const column = reduce(intervalOf(grid, cells[e], x), grid[x], columns);
    return rows === 1 ? column : reduce(intervalOf(grid, cells[e], y), grid[y], rows) * columns + column;
  });
}
