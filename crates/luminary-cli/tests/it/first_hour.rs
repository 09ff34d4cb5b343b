//! docs/first-hour.md, followed to the letter.
//!
//! Blocks in `sh` are run one after the other in one folder, blocks with the name of a file behind the language are
//! written to it, and lines of `text` must be in what the commands before them printed; numbers may differ.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::Lab;

struct Block {
    language: String,
    file: Option<String>,
    text: String,
}

fn blocks(document: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    for fenced in document.split("\n```").skip(1).step_by(2) {
        let (info, text) = fenced.split_once('\n').unwrap();
        let mut words = info.split_whitespace().map(str::to_owned);
        let language = words.next().unwrap();
        blocks.push(Block { language, file: words.next(), text: text.to_owned() });
    }
    blocks
}

/// A text with every number as `#`, and white space as one space.
fn without_numbers(text: &str) -> String {
    let mut plain = String::new();
    let mut is_number = false;
    for c in text.chars() {
        let belongs = c.is_ascii_digit() || (is_number && ".,:e-".contains(c));
        if belongs && !is_number {
            plain.push('#');
        } else if !belongs {
            plain.push(c);
        }
        is_number = belongs;
    }
    plain.replace("-#", "#").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_command_of_the_first_hour_works_and_says_what_the_page_shows() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/first-hour.md");
    let document = fs::read_to_string(page).unwrap();
    let lab = Lab::new();
    let program = Path::new(env!("CARGO_BIN_EXE_luminary"));
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut printed = String::new();
    let mut n_commands = 0;
    for Block { language, file, text } in blocks(&document) {
        match (language.as_str(), file) {
            ("sh", None) => {
                let output =
                    Command::new("sh").args(["-ec", &text]).env("PATH", &path).current_dir(lab.path("")).output();
                let output = output.unwrap();
                printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
                assert!(output.status.success(), "{text}\n{printed}");
                n_commands += text.lines().count();
            }
            ("text", None) => {
                let printed = without_numbers(&printed);
                for line in text.lines().filter(|line| line.trim() != "...") {
                    let line = without_numbers(line);
                    assert!(printed.contains(&line), "expected {line:?} in {printed}");
                }
            }
            (_, Some(file)) => fs::write(lab.path(&file), &text).unwrap(),
            (language, None) => panic!("expected sh, text or a file, found a block in {language}"),
        }
    }
    assert!(n_commands >= 10, "the page has commands");
    for file in ["runs/throw/figures/heatmap.png", "runs/throw/report.html", "throw.svg", "best.npy"] {
        assert!(lab.path(file).exists(), "{file}");
    }
}

#[test]
fn numbers_are_left_out_of_comparisons_and_nothing_else_is() {
    assert_eq!(without_numbers("from -1.5e-3 to  2,000: ok"), "from # to # ok");
    assert_eq!(without_numbers("cell 12 [3, 4]"), "cell # [# #]");
}
