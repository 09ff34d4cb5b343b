//! What may be done, and that nothing may be done without being allowed.

use std::path::PathBuf;
use std::time::Duration;

use luminary_run::driver::{Progress, Run, Watch};
use luminary_run::folder::State;
use luminary_run::folder::live::STOP;
use luminary_run::stop::StopFlag;
use luminary_serve::{Control, Token};

use crate::support::{Lab, config, run};

const TOKEN: &str = "a-token-for-the-tests";

/// A server that acts; runs are resumed by a program that only leaves a mark.
fn acting() -> Lab {
    Lab::with(|mut options| {
        options.control = Control::Allowed { program: PathBuf::from("true") };
        options.token = Some(Token::new(TOKEN).unwrap());
        options
    })
}

fn bearer() -> String {
    format!("Bearer {TOKEN}")
}

fn id(lab: &Lab) -> String {
    let bearer = bearer();
    let list = lab.send("GET", "/api/runs", &[("Authorization", &bearer)]).json();
    list["runs"][0]["id"].as_str().unwrap().to_owned()
}

struct Endless;

impl Watch for Endless {
    fn iteration(&mut self, _: &Progress<'_>) {
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_run_is_stopped_with_everything_saved_and_can_then_be_resumed() {
    let lab = acting();
    let ready = Run::create(&lab.path("run"), config(&[("run.iterations", "1000000")])).unwrap();
    let running = std::thread::spawn(move || ready.execute(&StopFlag::default(), &mut Endless).unwrap());
    let id = id(&lab);
    let bearer = bearer();
    let headers = [("Authorization", bearer.as_str()), ("X-Luminary", "1")];
    let too_early = lab.send("POST", &format!("/api/runs/{id}/resume"), &headers);
    assert_eq!(too_early.status, 409, "{too_early:?}");
    assert_eq!(lab.send("POST", &format!("/api/runs/{id}/stop"), &headers).status, 200);
    let summary = running.join().unwrap();
    assert_eq!(summary.status, State::Interrupted);
    assert!(!lab.path("run").join(STOP).exists());
    assert_eq!(
        lab.send("POST", &format!("/api/runs/{id}/stop"), &headers).error(),
        "expected a run that is running, found one that is not"
    );
    assert_eq!(lab.send("POST", &format!("/api/runs/{id}/resume"), &headers).status, 200);
}

/// A run whose elites are drawn by a command of the shell: its id and its best elite.
#[cfg(unix)]
fn run_that_draws(lab: &Lab, command: String) -> (String, serde_json::Value) {
    let mut config = config(&[]);
    let command = vec!["sh".into(), "-c".into(), command];
    config.render = Some(luminary_run::config::RenderConfig::new(command, &config.problem));
    Run::create(&lab.path("run"), config).unwrap().execute(&StopFlag::default(), &mut ()).unwrap();
    let id = id(lab);
    let bearer = bearer();
    let answer = lab.send("GET", &format!("/api/runs/{id}/elite"), &[("Authorization", bearer.as_str())]).json();
    (id, answer["elite"].clone())
}

#[test]
#[cfg(unix)]
fn an_elite_is_drawn_by_the_command_of_its_own_run_once() {
    let lab = acting();
    let drawn = lab.path("drawn");
    let command = format!("echo x >> {}; cat", drawn.display());
    let bearer = bearer();
    let headers = [("Authorization", bearer.as_str()), ("X-Luminary", "1")];
    let (id, best) = run_that_draws(&lab, command);
    let path = format!("/api/runs/{id}/replay?cell={}", best["cell"]);
    for _ in 0..2 {
        let answer = lab.send("POST", &path, &headers);
        assert_eq!(answer.header("content-type"), Some("application/octet-stream"));
        assert_eq!(answer.json()["solution"], best["solution"]);
    }
    assert_eq!(std::fs::read_to_string(&drawn).unwrap(), "x\n", "drawn once, then kept");
    assert_eq!(lab.send("GET", &path, &headers).status, 405, "looking changes nothing");
}

#[test]
#[cfg(unix)]
fn commands_that_draw_for_long_hold_nobody_up_who_only_looks() {
    let lab = acting();
    // Draws until the test has seen enough.
    let command = format!("while [ ! -e {} ]; do sleep 0.05; done; echo drawn", lab.path("enough").display());
    let bearer = bearer();
    let headers = [("Authorization", bearer.as_str()), ("X-Luminary", "1")];
    let (id, best) = run_that_draws(&lab, command);
    let path = format!("/api/runs/{id}/replay?cell={}", best["cell"]);
    std::thread::scope(|scope| {
        let drawing: Vec<_> = (0..8).map(|_| scope.spawn(|| lab.send("POST", &path, &headers))).collect();
        // More than the server has threads are drawing by now, or wait for it.
        std::thread::sleep(Duration::from_millis(500));
        assert_eq!(lab.send("GET", &format!("/api/runs/{id}"), &headers).status, 200);
        std::fs::write(lab.path("enough"), "").unwrap();
        for picture in drawing {
            assert_eq!(picture.join().unwrap().body, b"drawn\n");
        }
    });
}

#[test]
#[cfg(unix)]
fn what_is_no_file_is_no_picture() {
    let bearer = bearer();
    let headers = [("Authorization", bearer.as_str()), ("X-Luminary", "1")];
    for command in ["mkfifo {output}", "ln -s /etc/hostname {output}", "mkdir {output}"] {
        let lab = acting();
        let (id, best) = run_that_draws(&lab, command.into());
        let answer = lab.send("POST", &format!("/api/runs/{id}/replay?cell={}", best["cell"]), &headers);
        assert_eq!(
            (answer.status, answer.error().contains("expected a regular file")),
            (422, true),
            "{command}: {answer:?}"
        );
    }
}

#[test]
fn a_server_that_only_shows_does_nothing_else() {
    let lab = Lab::new();
    run(&lab.path("run"), &[], &mut ());
    let id = lab.id("run");
    for action in ["stop", "resume", "replay?cell=0"] {
        let answer = lab.send("POST", &format!("/api/runs/{id}/{action}"), &[("X-Luminary", "1")]);
        assert_eq!(answer.status, 403, "{action}");
        assert!(answer.error().contains("--control"), "{answer:?}");
    }
}

#[test]
fn acting_needs_the_token_and_the_header_of_the_page() {
    let lab = acting();
    run(&lab.path("run"), &[], &mut ());
    let id = id(&lab);
    let path = format!("/api/runs/{id}/stop");
    assert_eq!(lab.send("POST", &path, &[("X-Luminary", "1")]).status, 401);
    assert_eq!(lab.send("POST", &path, &[("Authorization", &bearer())]).status, 403);
}
