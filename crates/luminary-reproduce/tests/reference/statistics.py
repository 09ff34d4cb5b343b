"""Writes statistics.json: data sets and what statsmodels finds in them, for the tests of `statistics`.

    python -m venv /tmp/reference && /tmp/reference/bin/pip install numpy pandas statsmodels
    /tmp/reference/bin/python crates/luminary-reproduce/tests/reference/statistics.py

The data are drawn with a fixed seed, so that only a change of this script, or of those packages, changes the file.
Made with numpy 2.4.6, pandas 3.1.1, scipy 1.17.1, statsmodels 0.15.0.
"""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf
from statsmodels.stats.anova import anova_lm


def draw(rng, counts, spread):
    """Scores for a matrix of counts (algorithms by domains); `spread` is the standard deviation in each domain."""
    counts = np.array(counts)
    means = rng.uniform(20, 80, counts.shape[1]) + rng.uniform(-4, 4, counts.shape)
    # Two equal means, so that some comparisons are not significant.
    means[1] = means[0] + rng.uniform(-0.3, 0.3, counts.shape[1])
    rows = []
    for algorithm, row in enumerate(counts):
        for domain, count in enumerate(row):
            values = rng.normal(means[algorithm, domain], spread[domain], count)
            rows += [(f"algorithm {algorithm}", f"domain {domain}", round(float(value), 4)) for value in values]
    # Shuffled, so that no reader may rely on the order.
    order = rng.permutation(len(rows))
    return [rows[index] for index in order]


def effect(row, df_error):
    return {
        "sum_of_squares": float(row["sum_sq"]),
        "df": int(row["df"]),
        "df_error": int(df_error),
        "f": float(row["F"]),
        "p": float(row["PR(>F)"]),
    }


def analyse(rows):
    data = pd.DataFrame(rows, columns=["algorithm", "domain", "value"])
    model = smf.ols("value ~ C(algorithm, Sum) * C(domain, Sum)", data).fit()
    table = anova_lm(model, typ=3)
    df_error = table.loc["Residual", "df"]
    two_way = {
        "algorithm": effect(table.loc["C(algorithm, Sum)"], df_error),
        "domain": effect(table.loc["C(domain, Sum)"], df_error),
        "interaction": effect(table.loc["C(algorithm, Sum):C(domain, Sum)"], df_error),
        "mean_square_error": float(model.mse_resid),
    }
    return {"two_way": two_way, "domains": {d: in_domain(data, d) for d in sorted(data.domain.unique())}}


def in_domain(data, domain):
    alone = smf.ols("value ~ C(algorithm)", data[data.domain == domain]).fit()
    table = anova_lm(alone)
    pooled = smf.ols("value ~ 0 + C(domain):C(algorithm)", data).fit()
    algorithms = sorted(data.algorithm.unique())
    name = {a: f"C(domain)[{domain}]:C(algorithm)[{a}]" for a in algorithms}
    joint = pooled.f_test(", ".join(f"{name[a]} = {name[algorithms[0]]}" for a in algorithms[1:]))
    pairs = alone.t_test_pairwise("C(algorithm)", method="bonferroni").result_frame
    comparisons = {"per_domain": [], "pooled": []}
    n_tests = len(algorithms) * (len(algorithms) - 1) // 2
    for first_idx, first in enumerate(algorithms):
        for second in algorithms[first_idx + 1 :]:
            # statsmodels names a pair "second-first".
            row = pairs.loc[f"{second}-{first}"]
            comparisons["per_domain"].append(
                comparison(first, second, -row["coef"], -row["t"], alone.df_resid, row["P>|t|"], row["pvalue-bonferroni"])
            )
            test = pooled.t_test(f"{name[first]} = {name[second]}")
            p = test.pvalue.item()
            difference = (pooled.params[name[first]] - pooled.params[name[second]]).item()
            comparisons["pooled"].append(
                comparison(first, second, difference, test.tvalue.item(), pooled.df_resid, p, min(1.0, n_tests * p))
            )
    return {
        "effect": {
            "per_domain": effect(table.loc["C(algorithm)"], table.loc["Residual", "df"]),
            "pooled": {
                "sum_of_squares": float(table.loc["C(algorithm)", "sum_sq"]),
                "df": int(joint.df_num),
                "df_error": int(joint.df_denom),
                "f": float(joint.fvalue),
                "p": float(joint.pvalue),
            },
        },
        "comparisons": comparisons,
    }


def comparison(first, second, difference, t, df, p, p_corrected):
    return {
        "first": first,
        "second": second,
        "difference": float(difference),
        "t": float(t),
        "df": int(df),
        "p": float(p),
        "p_corrected": float(p_corrected),
    }


def main():
    rng = np.random.default_rng(7)
    sets = {
        "balanced": draw(rng, [[5, 5, 5, 5]] * 3, [1.0, 1.0, 1.0, 1.0]),
        # As in the paper: 20 trials in most domains and 5 in one, the same for all algorithms.
        "proportional": draw(rng, [[20, 20, 20, 20, 5]] * 4, [0.3, 0.5, 2.0, 0.1, 1.0]),
        "unbalanced": draw(rng, [[2, 7, 3], [6, 1, 4], [3, 5, 9]], [2.0, 2.0, 2.0]),
    }
    document = {name: {"observations": rows, "expected": analyse(rows)} for name, rows in sets.items()}
    # Innermost lists and objects on one line each.
    text = re.sub(r"[\[{][^\[\]{}]*[\]}]", lambda leaf: " ".join(leaf.group().split()), json.dumps(document, indent=1))
    path = Path(__file__).with_suffix(".json")
    path.write_text(text + "\n", encoding="utf-8")
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
