//! The paper's statistics on QD scores: two-way analysis of variance, simple main effects and pairwise comparisons.
