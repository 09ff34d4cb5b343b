// What the colours of the heatmap show: the objective, or another number of each elite.

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
