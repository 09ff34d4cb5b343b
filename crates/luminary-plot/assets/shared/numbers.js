// Numbers for people: as text, as round numbers along an axis, and as a range of colours.
// The report and the live view share this file; the report puts it into one scope with its own scripts.

export function format(value, digits) {
  if (!Number.isFinite(value)) return String(value).replace("Infinity", "∞").replace("-", "−");
  const size = Math.abs(value);
  const plain = value === 0 || (size >= 1e-4 && size < 1e9);
  const text = plain
    ? String(Number(value.toPrecision(digits)))
    : value.toExponential(digits - 1).replace(/\.?0+e/, "e").replace("e+", "e");
  return text.replace(/-/g, "−");
}

// Round numbers between two ends, about `target` of them.
export function ticks(lower, upper, target) {
  const raw = (upper - lower) / target;
  const power = 10 ** Math.floor(Math.log10(raw));
  const m = raw / power;
  const step = (m < 1.415 ? 1 : m < 3.163 ? 2 : m < 7.072 ? 5 : 10) * power;
  const out = [];
  for (let i = Math.ceil(lower / step - 1e-9); i <= upper / step + 1e-9 && out.length < 50; i++) out.push(i * step);
  return out;
}

// The same rule as in figures: an end that lies far beyond the outermost hundredth of the values is an outlier.
export function withoutOutliers(values) {
  const sorted = Array.from(values).filter(Number.isFinite).sort((a, b) => a - b);
  if (!sorted.length) return [0, 1];
  const tail = Math.round((sorted.length - 1) * 0.01);
  const [min, max] = [sorted[0], sorted[sorted.length - 1]];
  const [low, high] = [sorted[tail], sorted[sorted.length - 1 - tail]];
  const reach = 0.5 * (high - low);
  const ends = reach > 0 ? [low - min > reach ? low : min, max - high > reach ? high : max] : [min, max];
  return ends[1] > ends[0] ? ends : [ends[0] - 0.5, ends[0] + 0.5];
}
