// Statistics of several runs: means with standard errors, and whether two groups differ.

export interface Estimate {
  mean: number;
  error: number;
  n: number;
}

// Mean and standard error of the finite values; nothing if there are none.
export function estimate(values: (number | null | undefined)[]): Estimate | null {
  const finite = values.filter((value): value is number => typeof value === "number" && Number.isFinite(value));
  if (!finite.length) return null;
  const n = finite.length;
  const mean = finite.reduce((sum, value) => sum + value, 0) / n;
  const squares = finite.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, error: n > 1 ? Math.sqrt(squares / (n - 1) / n) : 0, n };
}

// The two-sided p-value of the Mann-Whitney U test: exact by counting all ways to share out the ranks, as long as there
// are few, and by the normal approximation with correction for ties beyond. Nothing if a group is empty.
export function mannWhitney(a: number[], b: number[]): number | null {
  const [n, m] = [a.length, b.length];
  if (!n || !m) return null;
  const ranks = midRanks([...a, ...b]);
  const sum = ranks.slice(0, n).reduce((total, rank) => total + rank, 0);
  const middle = (n * (n + m + 1)) / 2;
  if (n + m <= 24) return exact(ranks, n, Math.abs(sum - middle));
  let ties = 0;
  for (const count of counts([...a, ...b])) ties += count ** 3 - count;
  const total = n + m;
  const variance = ((n * m) / 12) * (total + 1 - ties / (total * (total - 1)));
  if (variance <= 0) return 1;
  return Math.min(1, 2 * normalTail((Math.abs(sum - middle) - 0.5) / Math.sqrt(variance)));
}

// The share of all choices of n ranks whose sum is at least this far from the middle. Ranks are doubled to be whole.
function exact(ranks: number[], n: number, distance: number): number {
  const doubled = ranks.map((rank) => Math.round(2 * rank));
  const most = doubled.reduce((sum, rank) => sum + rank, 0);
  const ways = Array.from({ length: n + 1 }, () => new Float64Array(most + 1));
  ways[0][0] = 1;
  for (const rank of doubled) {
    for (let k = n; k >= 1; k--) {
      for (let sum = most; sum >= rank; sum--) ways[k][sum] += ways[k - 1][sum - rank];
    }
  }
  const middle = n * (ranks.length + 1);
  let [far, all] = [0, 0];
  ways[n].forEach((count, sum) => {
    all += count;
    if (Math.abs(sum - middle) >= 2 * distance - 1e-9) far += count;
  });
  return far / all;
}

function midRanks(values: number[]): number[] {
  const order = values.map((_, i) => i).sort((i, k) => values[i] - values[k]);
  const ranks = new Array<number>(values.length);
  for (let start = 0; start < order.length; ) {
    let end = start;
    while (end + 1 < order.length && values[order[end + 1]] === values[order[start]]) end++;
    for (let i = start; i <= end; i++) ranks[order[i]] = (start + end) / 2 + 1;
    start = end + 1;
  }
  return ranks;
}

function counts(values: number[]): number[] {
  const found = new Map<number, number>();
  for (const value of values) found.set(value, (found.get(value) ?? 0) + 1);
  return [...found.values()];
}

// The upper tail of the normal distribution (Abramowitz and Stegun 26.2.17; absolute error below 7.5e-8).
function normalTail(z: number): number {
  if (z < 0) return 1 - normalTail(-z);
  const t = 1 / (1 + 0.2316419 * z);
  const series = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * series;
}
