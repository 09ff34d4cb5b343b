// What the colours of the heatmap show: the objective, or another number of each elite.

// The same rule as in figures: an end that lies far beyond the outermost hundredth of the values is an outlier.
function withoutOutliers(values) {
  const sorted = Array.from(values).filter(Number.isFinite).sort((a, b) => a - b);
  if (!sorted.length) return [0, 1];
  const tail = Math.round((sorted.length - 1) * 0.01);
  const [min, max] = [sorted[0], sorted[sorted.length - 1]];
  const [low, high] = [sorted[tail], sorted[sorted.length - 1 - tail]];
  const reach = 0.5 * (high - low);
  const ends = reach > 0 ? [low - min > reach ? low : min, max - high > reach ? high : max] : [min, max];
  return ends[1] > ends[0] ? ends : [ends[0] - 0.5, ends[0] + 0.5];
}

function everyNth(rows, start, step) {
  return Float64Array.from({ length: nElites }, (_, elite) => rows[start + elite * step]);
}

function coloring(name, values) {
  return { name, values, range: withoutOutliers(values), ownSign: (value) => value };
}

const MAX_COMPONENTS = 1000;
const componentName = (i) => (data.parameters.length ? data.parameters[i] : `x${i}`);

// Names of all that can be shown, and how to get it when it is chosen.
const colorings = [[data.objective, () => ({ name: data.objective, values: objectives, range: data.range, ownSign })]];
for (const field of data.fields) colorings.push([field.name, () => coloring(field.name, doubles(field.values))]);
measures.forEach((m, i) => {
  colorings.push([m.name, () => coloring(m.name, everyNth(eliteMeasures, i, nMeasures))]);
});
for (let i = 0; i < Math.min(nParameters, MAX_COMPONENTS); i++) {
  const values = () => {
    solution(0);
    return everyNth(solutionRows, i, nParameters);
  };
  colorings.push([componentName(i), () => coloring(componentName(i), values())]);
}

const chooser = element("color-by");
colorings.forEach(([name], i) => {
  const option = document.createElement("option");
  option.value = i;
  option.textContent = name;
  chooser.append(option);
});
chooser.addEventListener("change", () => {
  shownColors = colorings[Number(chooser.value)][1]();
  map.dataset.range = shownColors.range.join(" ");
  draw();
});
themeListeners.push(() => {
  draw();
  showDetails(pinned >= 0 ? pinned : shown);
});
