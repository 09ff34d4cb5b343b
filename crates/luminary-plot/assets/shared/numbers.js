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

// The value that would be at a place if the values were sorted, which takes ten times as long. It moves them (Hoare's find).
function inOrder(values, place) {
  let left = 0;
  let right = values.length - 1;
  while (left < right) {
    const pivot = values[(left + right) >> 1];
    let i = left;
    let j = right;
    while (i <= j) {
      while (values[i] < pivot) i++;
      while (values[j] > pivot) j--;
      if (i > j) break;
      const moved = values[i];
      values[i++] = values[j];
      values[j--] = moved;
    }
    if (place <= j) right = j;
    else if (place >= i) left = i;
    else break;
  }
  return values[place];
}

// The same rule as in figures: an end that lies far beyond the outermost hundredth of the values is an outlier.
export function withoutOutliers(values) {
  const room = new Float64Array(values.length);
  let n = 0;
  let [min, max] = [Infinity, -Infinity];
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (!Number.isFinite(value)) continue;
    room[n++] = value;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  if (!n) return [0, 1];
  const finite = room.subarray(0, n);
  const tail = Math.round((n - 1) * 0.01);
  const [low, high] = [inOrder(finite, tail), inOrder(finite, n - 1 - tail)];
  const reach = 0.5 * (high - low);
  const ends = reach > 0 ? [low - min > reach ? low : min, max - high > reach ? high : max] : [min, max];
  return ends[1] > ends[0] ? ends : [ends[0] - 0.5, ends[0] + 0.5];
}
