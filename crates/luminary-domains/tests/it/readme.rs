//! The README's lines of Rust, word for word.

#[test]
#[allow(clippy::print_stdout, reason = "the README prints")]
fn the_readme_s_five_lines_reach_the_paper_s_qd_score() -> Result<(), Box<dyn std::error::Error>> {
    use luminary::preset::Preset;
    use luminary::problem::Problem;
    use luminary_domains::LinearProjection;

    let problem = LinearProjection::sphere(100)?;
    let mut scheduler = Preset::CmaMae.for_problem(&problem.spec()).build()?;
    scheduler.run(&problem, 10_000)?;
    println!("QD score {:.2}", scheduler.result().stats().norm_qd_score);

    // The paper reports 64.86 for CMA-MAE.
    let found = scheduler.result().stats().norm_qd_score;
    assert!(found > 64.86, "expected more than the paper's 64.86, found {found}");
    Ok(())
}

#[test]
fn the_readme_has_these_very_lines() {
    let (readme, here) = (include_str!("../../../../README.md"), include_str!("readme.rs"));
    let block = readme.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a Rust block");
    let lines: Vec<_> = block.lines().filter(|line| !line.is_empty()).collect();
    assert!(lines.len() > 3, "expected the five lines, found {block}");
    for line in lines {
        assert!(here.lines().any(|found| found.trim() == line), "the README's line is not in the test: {line}");
    }
}
