//! Workers on other machines: real ssh sessions with servers on loopback.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::sshd::Network;
use crate::support::{Answer, Lab, signal};

/// Plain Python. Each request is written down by its worker and answered once there is no file `hold`.
const PROGRAM: &str = r#"
import json, os, sys, time
hello = json.loads(sys.stdin.readline())
print(json.dumps({"version": 1}), flush=True)
n_requests = 0
for line in sys.stdin:
    request = json.loads(line)
    n_requests += 1
    open("asked-" + os.environ["LUMINARY_WORKER"], "a").write(".")
    while os.path.exists("hold"): time.sleep(0.01)
    {body}
    results = [{"objective": 10.0 - sum(v * v for v in x), "measures": x[:2]} for x in request["solutions"]]
    print(json.dumps({"id": request["id"], "results": results}), flush=True)
"#;

const CONFIG: &str = r#"
[problem]
n = 4
measures = [[-2.0, 2.0], [-2.0, 2.0]]
[evaluator]
command = ["python3", "{directory}/program.py"]
rows_per_request = 1
retries = 0
{evaluator}
[archive]
resolution = 10
[algorithm]
emitters = 2
batch_size = 15
[run]
iterations = 8
checkpoint_iterations = 1
"#;

/// A folder with a program, and configurations that run it here (`local.toml`) and on hosts (`run.toml`).
fn lab(network: &Network, hosts: &str, more: &str, body: &str) -> Lab {
    let lab = Lab::new();
    fs::write(lab.path("program.py"), PROGRAM.replace("{body}", body)).unwrap();
    fs::write(lab.path("local.toml"), CONFIG.replace("{evaluator}", "workers = 2")).unwrap();
    let evaluator = format!("hosts = {hosts}\nlauncher = {}\n{more}", network.launcher());
    fs::write(lab.path("run.toml"), CONFIG.replace("{evaluator}", &evaluator)).unwrap();
    lab
}

fn start(lab: &Lab, arguments: &[&str]) -> Child {
    let mut command = lab.command();
    command.arg("run").args(["run.toml", "--out", "run"]).args(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Removes what workers have written down.
fn forget_requests(lab: &Lab) {
    for entry in fs::read_dir(lab.path("")).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_string_lossy().starts_with("asked-") {
            fs::remove_file(path).unwrap();
        }
    }
}

/// Processes that were started with the lab's folder: launchers, what surrounds the programs, and these.
fn processes_of(lab: &Lab) -> Vec<String> {
    let folder = lab.path("").display().to_string();
    let table = Command::new("ps").args(["-eo", "stat=,pid=,args="]).output().unwrap();
    let table = String::from_utf8_lossy(&table.stdout).into_owned();
    let is_one = |line: &&str| line.contains(&folder) && !line.starts_with('Z');
    table.lines().filter(is_one).map(str::to_owned).collect()
}

/// Sessions that nobody wants any more take a second or two to end.
#[track_caller]
fn nothing_is_left_of(lab: &Lab) {
    let start = Instant::now();
    while !processes_of(lab).is_empty() {
        assert!(start.elapsed() < Duration::from_secs(60), "{:#?}", processes_of(lab));
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_run_over_ssh_has_the_bits_of_one_here() {
    let network = Network::new(&["node1", "node2"]);
    let lab = lab(&network, "['node1*2', 'node2']", "", "pass");
    lab.call(&["run", "local.toml", "--out", "local", "--quiet"]).success();
    let report = lab.call(&["check", "run.toml"]).success().stdout;
    assert!(report.contains("objective 10.0, measures [0.0, 0.0] at the start"), "{report}");
    forget_requests(&lab);
    lab.call(&["run", "run.toml", "--out", "run", "--quiet"]).success();
    assert!(lab.essence("run") == lab.essence("local"));
    assert!((0..3).all(|worker| lab.path(&format!("asked-{worker}")).exists()), "all of them had work");
    assert_eq!(lab.show("run")["invalid"], 0);
    nothing_is_left_of(&lab);
    let wrong = [
        ("evaluator.workers=4", "3, which evaluator.hosts add up to, or nothing"),
        ("evaluator.hosts=node1,node2*0", "a name such as"),
        ("evaluator.hosts=['node1*1000', 'node2*1000']", "hosts with 1 to 1024 workers in all"),
        ("evaluator.hosts=node1,node1", "each host once"),
        ("evaluator.protocol=files", "absent with protocol"),
        ("evaluator.launcher=[]", "a program and its arguments"),
    ];
    for (setting, text) in wrong {
        lab.call(&["run", "run.toml", "--out", "wrong", "--set", setting]).fails(2, &["evaluator.", text]);
    }
    lab.call(&["run", "run.toml", "--out", "text", "--set", "evaluator.hosts=node1,node2", "--quiet"]).success();
    assert!(lab.essence("text") == lab.essence("local"));
}

#[test]
fn a_host_that_dies_and_comes_back_is_told_and_changes_no_bit() {
    let mut network = Network::new(&["node1", "node2"]);
    let lab = lab(&network, "['node1', 'node2*2']", "", "pass");
    lab.call(&["run", "local.toml", "--out", "local", "--quiet"]).success();
    forget_requests(&lab);
    fs::write(lab.path("hold"), "").unwrap();
    let child = start(&lab, &[]);
    (0..3).for_each(|worker| lab.wait_for(&format!("asked-{worker}")));
    network.crash("node2");
    forget_requests(&lab);
    // Whoever runs this must hear of it now, and not when the iteration ends.
    lab.wait_for("run/evaluator.log");
    network.boot("node2");
    (1..3).for_each(|worker| lab.wait_for(&format!("asked-{worker}")));
    fs::remove_file(lab.path("hold")).unwrap();
    let answer = Answer::of(child.wait_with_output().unwrap()).success();
    let log = fs::read_to_string(lab.path("run/evaluator.log")).unwrap();
    for text in ["host node2 is lost", "host node2 is back"] {
        assert!(answer.stderr.contains(text) && log.contains(text), "{}\n{log}", answer.stderr);
    }
    assert_eq!(lab.show("run")["invalid"], 0);
    assert!(lab.essence("run") == lab.essence("local"));
    nothing_is_left_of(&lab);
}

#[test]
fn a_run_that_has_lost_all_hosts_ends_saved_and_goes_on_when_they_are_back() {
    let mut network = Network::new(&["node1"]);
    let lab = lab(&network, "['node1*2']", "host_patience = 1.0", "pass");
    lab.call(&["run", "local.toml", "--out", "local", "--quiet"]).success();
    // The first iteration has thirty requests; those of the second wait.
    let body = "while os.path.exists('later') and sum(os.path.getsize(name) for name in os.listdir('.') if \
                name.startswith('asked')) > 30: time.sleep(0.01)";
    fs::write(lab.path("program.py"), PROGRAM.replace("{body}", body)).unwrap();
    forget_requests(&lab);
    fs::write(lab.path("later"), "").unwrap();
    let child = start(&lab, &["--quiet"]);
    lab.wait_for("run/checkpoints/00000000000000000001.ckpt");
    network.crash("node1");
    let texts = ["none of the hosts can be reached (waited 1 s, `host_patience`)", "luminary resume run"];
    Answer::of(child.wait_with_output().unwrap()).fails(1, &texts);
    nothing_is_left_of(&lab);
    assert_eq!(lab.show("run")["status"], "failed");
    lab.call(&["resume", "run", "--quiet"]).fails(1, &["none of the hosts can be reached;", "luminary resume run"]);
    network.boot("node1");
    fs::remove_file(lab.path("later")).unwrap();
    // On other hosts, then on those it had, and longer on this machine.
    lab.call(&["resume", "run", "--hosts", "node1,-v"]).fails(2, &["--hosts: expected a name", "\"-v\""]);
    lab.call(&["resume", "run", "--hosts", "127.0.0.1"])
        .fails(1, &["none of the hosts can be reached;", "on 127.0.0.1"]);
    lab.call(&["resume", "run", "--hosts", "node1*2", "--quiet"]).success();
    assert!(lab.essence("run") == lab.essence("local"));
    lab.call(&["resume", "run", "--workers", "2", "--iterations", "10", "--quiet"]).success();
    lab.call(&["resume", "local", "--iterations", "10", "--quiet"]).success();
    assert!(lab.essence("run") == lab.essence("local"));
}

#[test]
fn workers_of_a_domain_cannot_run_elsewhere() {
    let lab = Lab::new();
    lab.run_small(&["--iterations", "2", "--out", "run", "--quiet"]).success();
    lab.call(&["resume", "run", "--workers", "2"]).fails(2, &["expected a problem that a program evaluates"]);
}

#[test]
fn a_hundred_time_outs_leave_no_process_behind() {
    let network = Network::new(&["node1", "node2"]);
    let body = "if n_requests > 1: time.sleep(1000)";
    let lab = lab(&network, "['node1*5', 'node2*5']", "time_limit = 0.3", body);
    lab.call(&["run", "run.toml", "--out", "run", "--quiet"]).success();
    let shown = lab.show("run");
    assert!(shown["failures"]["time out"].as_u64().unwrap() >= 100, "{shown}");
    assert_eq!(shown["failures"]["time out"], shown["invalid"], "nothing else went wrong");
    nothing_is_left_of(&lab);
}

#[test]
fn programs_on_hosts_end_with_the_run_however_that_ends() {
    let network = Network::new(&["node1"]);
    for signals in [&["KILL"][..], &["INT", "INT"], &["INT", "INT", "INT"]] {
        let lab = lab(&network, "['node1*2']", "", "pass");
        fs::write(lab.path("hold"), "").unwrap();
        let child = start(&lab, &["--quiet"]);
        (0..2).for_each(|worker| lab.wait_for(&format!("asked-{worker}")));
        assert!(processes_of(&lab).len() >= 4, "launchers and programs are running");
        for name in signals {
            signal(&child, name);
            std::thread::sleep(Duration::from_millis(100));
        }
        child.wait_with_output().unwrap();
        nothing_is_left_of(&lab);
    }
}
