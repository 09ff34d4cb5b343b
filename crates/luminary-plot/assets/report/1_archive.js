// The data of the archive.

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
const archive = { measures, grid: data.grid, centroids, nCells: data.n_cells, nElites, cells, objectives };
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

const order = Array.from({ length: nElites }, (_, i) => i).sort(
  (a, b) => rank(objectives[b]) - rank(objectives[a]) || a - b,
);
const rankOf = new Int32Array(nElites);
order.forEach((elite, i) => (rankOf[elite] = i));
