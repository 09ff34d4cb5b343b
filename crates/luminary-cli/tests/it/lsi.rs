//! `luminary lsi`, which hands over to another program.

use std::fs;

use crate::support::{Answer, Lab};

const WANTED: [&str; 2] = ["expected the program luminary-lsi", "`cargo install --path lsi` builds it"];

#[test]
fn without_the_program_the_error_says_how_to_get_it() {
    for args in [&["lsi"][..], &["lsi", "--help"], &["resume", "run"]] {
        let lab = Lab::new();
        fs::create_dir(lab.path("run")).unwrap();
        fs::write(lab.path("run/lsi.json"), "{}").unwrap();
        let output = lab.command_alone().args(args).output().unwrap();
        Answer::of(output).fails(2, &WANTED);
    }
}

#[cfg(unix)]
#[test]
fn the_program_gets_all_arguments_and_its_code_is_ours() {
    use std::os::unix::fs::PermissionsExt;

    let lab = Lab::new();
    let stand_in = lab.path("alone/luminary-lsi");
    let mut command = lab.command_alone();
    fs::write(&stand_in, "#!/bin/sh\nprintf '<%s>' \"$@\"\nexit 7\n").unwrap();
    fs::set_permissions(&stand_in, fs::Permissions::from_mode(0o755)).unwrap();
    let answer = Answer::of(command.args(["lsi", "compare", "--set", "a=b c", "--help"]).output().unwrap());
    assert_eq!(answer.stdout, "<compare><--set><a=b c><--help>");
    assert_eq!(answer.code, Some(7));
}
