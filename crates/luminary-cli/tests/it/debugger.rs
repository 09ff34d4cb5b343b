//! Evaluators that misbehave: `check` and `run` name the cause of each.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::support::Lab;

/// `{before}` runs before the hello, `{body}` for each request.
const PROGRAM: &str = r#"
import json, os, sys, time
def send(text, end="\n"):
    sys.stdout.write(text + end)
    sys.stdout.flush()
json.loads(sys.stdin.readline())
{before}
send('{"version": 1}')
for line in sys.stdin:
    request = json.loads(line)
    x = request["solutions"][0]
    results = [{"objective": 10.0 - sum(v * v for v in x), "measures": x[:2]} for x in request["solutions"]]
    answer = {"id": request["id"], "results": results}
    {body}
    send(json.dumps(answer))
"#;

const CONFIG: &str = r#"
[problem]
n = 3
measures = [[-2.0, 2.0], [-2.0, 2.0]]
[evaluator]
command = ["python3", "program.py"]
time_limit = 20.0
retries = 0
[archive]
resolution = 10
min_f = -100.0
[algorithm]
emitters = 2
batch_size = 3
[run]
iterations = 1
"#;

fn lab(before: &str, body: &str) -> Lab {
    let lab = Lab::new();
    fs::write(lab.path("program.py"), PROGRAM.replace("{before}", before).replace("{body}", body)).unwrap();
    fs::write(lab.path("run.toml"), CONFIG).unwrap();
    lab
}

/// What `check` says, and what ends a run that does not skip failures.
fn fails_with(lab: &Lab, settings: &[&str], texts: &[&str]) {
    let settings: Vec<&str> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
    let checked = lab.call(&[&["check", "run.toml"], settings.as_slice()].concat()).fails(1, texts);
    assert!(!checked.stdout.contains("ready"), "{}", checked.stdout);
    let abort = ["run", "run.toml", "--out", "run", "--quiet", "--set", "evaluator.on_failure=abort"];
    lab.call(&[&abort, settings.as_slice()].concat()).fails(1, texts);
    let _ = fs::remove_dir_all(lab.path("run"));
}

#[test]
fn a_fault_of_an_answer_is_named() {
    let garbage = "not in the protocol";
    let cases: &[(&str, &[&str])] = &[
        ("os.kill(os.getpid(), 11)", &["killed by signal 11 (segmentation fault)"]),
        ("sys.stderr.write('loading mesh\\n'); raise ValueError('bad mesh')", &["code 1", "ValueError: bad mesh"]),
        ("sys.exit(0)", &["exited with code 0"]),
        ("send('{\"id\": 0, \"resu', end=''); sys.exit(0)", &["expected a line end after", "resu"]),
        ("send('step 1 of 10')", &[garbage, "anything else may be printed to standard error"]),
        ("send(json.dumps(answer, indent=1))", &["found the end of the line; an answer has to be one line"]),
        ("send(str(answer))", &["expected a name in double quotes at byte 1, found \"'id': 0, "]),
        ("send(json.dumps(answer)[:-2] + ',]}')", &["expected a value after the comma"]),
        ("results[0]['objective'] = float('nan')", &["or an infinity in the objective"]),
        ("results[0]['objective'] = None", &["or an infinity in the objective"]),
        ("results[0]['measures'][1] = float('inf')", &["or an infinity in the measures"]),
        ("results[0]['measures'] = [1.0]", &["measures of the wrong length: expected 2, found 1"]),
        ("results[0]['objective'] = 'high'", &["expected a number as `objective`, found \"high\""]),
        ("results[0]['measures'] = {'far': 1}", &["expected a list of numbers as measures, found {\"far\": 1}"]),
        ("results[0]['measures'][1] = True", &["expected only numbers in measures, found true"]),
        ("answer['results'] = [7]", &["expected an object for each result, found 7"]),
        ("answer['id'] = '0'", &["expected a whole number as `id`, found \"0\""]),
        ("results[0] = {'error': {'code': 3}}", &["reported an error: {\"code\": 3} (expected a text)"]),
        ("del results[0]['measures']", &["expected `measures` in each result, found none in {\"objective\": "]),
        ("answer['results'] = []", &["results of the wrong length: expected 1, found 0"]),
        ("del answer['results']", &["expected `results` or `error` in the answer, found neither"]),
        ("del answer['id']", &["expected `id` in the answer, found none"]),
        ("answer['id'] = 99", &["expected an answer to one of the requests [0], found one to 99"]),
        ("answer = {'id': request['id'], 'error': 'no licence'}", &["reported an error: no licence"]),
        ("results[0] = {'error': 'diverged'}", &["reported an error: diverged"]),
        ("os.close(1); time.sleep(1000)", &["closed its output without exiting"]),
    ];
    for (body, texts) in cases {
        fails_with(&lab("pass", body), &["evaluator.rows_per_request=1"], texts);
    }
}

#[test]
fn a_fault_before_the_hello_is_named() {
    let cases: &[(&str, &[&str])] = &[
        ("send('Loading model ...')", &["expected a hello such as {\"version\": 1}, found \"Loading model ...\""]),
        (
            "send('[]')",
            &["expected a hello such as {\"version\": 1}, found \"[]\"; standard output is for answers only"],
        ),
        ("sys.exit(0)", &["a worker does not start, it gave no hello (tried once): worker 0 exited with code 0"]),
        ("send('{\"version\": 2}')", &["expected protocol version 1 in the hello, found 2"]),
        ("import no_such_module", &["worker does not start", "No module named 'no_such_module'"]),
    ];
    for (before, texts) in cases {
        fails_with(&lab(before, "pass"), &[], texts);
    }
}

#[test]
fn a_program_that_takes_too_long_is_told_by_which_setting_and_whether_it_only_forgot_to_flush() {
    fails_with(&lab("pass", "time.sleep(1000)"), &["evaluator.time_limit=2"], &["took longer than 2 s (`time_limit`)"]);
    let slow_start = lab("time.sleep(1000)", "pass");
    fails_with(&slow_start, &["evaluator.start_time_limit=2"], &["took longer than 2 s (`start_time_limit`)"]);
    // Whoever runs the tests may have switched buffers off.
    let buffered = "evaluator.env={PYTHONUNBUFFERED = ''}";
    let settings = ["evaluator.start_time_limit=8", "evaluator.time_limit=8", buffered];
    let hint = "does not flush its output after every line";
    let silent = lab("send = lambda text: print(text)", "pass");
    fails_with(&silent, &settings, &["`start_time_limit`", hint]);
    let silent = lab("pass", "send = lambda text: print(text)");
    fails_with(&silent, &settings, &["`time_limit`", hint, "or reads its input to the end before it answers"]);
    let endless = lab("pass", "send(json.dumps(answer), end=''); continue");
    let words = ["took longer than 2 s (`time_limit`): expected a line end after \"{\\\"id\\\": 0, \\\"results\\\": ["];
    fails_with(&endless, &["evaluator.time_limit=2"], &words);
}

#[test]
fn a_program_that_cannot_be_run_is_named() {
    let lab = lab("pass", "pass");
    let command = |words: &str| format!("evaluator.command={words}");
    fails_with(&lab, &[&command("['no-such-program']")], &["cannot run `no-such-program`", "No such file"]);
    fails_with(&lab, &[&command("['./program.py']")], &["program.py`: Permission denied", "not executable: chmod +x"]);
    fs::create_dir(lab.path("folder")).unwrap();
    fails_with(&lab, &[&command("['./folder']")], &["folder`: Permission denied", "it is a folder"]);
    for (first_line, text) in [
        ("#!/opt/absent/python3 -u", "not \"/opt/absent/python3\", by which its first line wants to be run"),
        ("#!/usr/bin/python3\r", "not \"/usr/bin/python3\\r\", by which its first line wants to be run"),
        ("import json", "a script needs a first line such as #!/usr/bin/env python3"),
    ] {
        fs::write(lab.path("script"), format!("{first_line}\n")).unwrap();
        fs::set_permissions(lab.path("script"), fs::Permissions::from_mode(0o755)).unwrap();
        fails_with(&lab, &[&command("['./script']")], &["cannot run", text]);
    }
    fails_with(&lab, &[&command("['python3', 'absent.py']")], &["exited with code 2", "absent.py"]);
}

#[test]
fn a_fault_of_the_files_protocol_is_named() {
    let lab = Lab::new();
    let config = CONFIG.replace(
        "command = [\"python3\", \"program.py\"]",
        "protocol = 'files'\ncommand = ['sh', '{directory}/program.sh', '{params}', '{result}']",
    );
    fs::write(lab.path("run.toml"), config).unwrap();
    for (script, texts) in [
        ("echo no licence >&2; exit 3", &["exited with code 3", "no licence"][..]),
        ("true", &["expected the result file result.json: No such file"]),
        ("echo nonsense > \"$2\"", &["not in the protocol"]),
        ("echo '{\"objective\": 1, \"measures\": [1]}' > \"$2\"", &["wrong length: expected 2, found 1"]),
    ] {
        fs::write(lab.path("program.sh"), script).unwrap();
        fails_with(&lab, &[], texts);
    }
    fs::write(lab.path("program.sh"), "sleep 1000").unwrap();
    fails_with(&lab, &["evaluator.time_limit=1"], &["took longer than 1 s (`time_limit`)"]);
    for (command, text) in [
        ("['./program.sh', '{params}', '{result}']", "not executable: chmod +x"),
        ("['./absent.sh', '{params}', '{result}']", "No such file"),
        ("['no-such-program', '{params}', '{result}']", "cannot run `no-such-program`"),
    ] {
        let command = format!("evaluator.command={command}");
        lab.call(&["run", "run.toml", "--out", "never", "--set", &command]).fails(1, &[text]);
        assert!(!lab.path("never").exists(), "a program that cannot be run leaves no run behind");
    }
}

#[test]
fn what_is_unusual_and_allowed_is_ready() {
    let noise = "[sys.stderr.write('x' * 999 + '\\n') for _ in range(300_000)]; sys.stderr.flush()";
    for (before, body) in [
        ("send = lambda text, end='': sys.stdout.write(text + '\\r\\n') and sys.stdout.flush()", "pass"),
        ("pass", "results = [r.update(objective=3, measures=[0, 1]) for r in results]"),
        ("sys.stdout.write('\\ufeff')", "sys.stdout.write('\\ufeff')"),
        ("send('')", "answer['comment'] = {'nested': [1, 2]}"),
        ("pass", noise),
    ] {
        let lab = lab(before, body);
        let checked = lab.call(&["check", "run.toml"]).success().stdout;
        assert!(checked.ends_with("ready\n"), "{checked}");
        lab.call(&["run", "run.toml", "--out", "run", "--quiet"]).success();
    }
}

#[test]
fn check_shows_what_was_said_and_harms_no_terminal() {
    let lab = lab("pass", "sys.stderr.write('\\033[2Jmesh of 12 cells\\n'); sys.stderr.flush()");
    let checked = lab.call(&["check", "run.toml"]).success().stdout;
    for line in [
        "sent         {\"hello\":\"luminary\",\"version\":1,",
        "received     {\"version\": 1}",
        "sent         {\"id\":0,\"jacobian\":false,\"solutions\":[[0.0,0.0,0.0]],\"seeds\":[",
        "received     {\"id\": 0, \"results\": [{\"objective\": 10.0, \"measures\": [0.0, 0.0]}]}",
        "its errors   \\u{1b}[2Jmesh of 12 cells",
        "for the evaluation",
        "evaluation   objective 10.0, measures [0.0, 0.0] at the start",
    ] {
        assert!(checked.contains(line), "expected {line:?} in {checked}");
    }
}

#[test]
fn check_tries_a_request_of_several_solutions_and_every_worker() {
    let many = ["check", "run.toml", "--set", "algorithm.batch_size=40"];
    let first_only = lab("pass", "answer['results'] = results[:1]");
    let checked = first_only.call(&many).success().stdout;
    assert!(checked.contains("warning: a request of two solutions fails"), "{checked}");
    assert!(checked.contains("results of the wrong length: expected 2, found 1"), "{checked}");
    let chance = lab("import random", "for result in results: result['objective'] = random.random()");
    let checked = chance.call(&many).success().stdout;
    assert!(checked.contains("when it is evaluated again: the evaluator uses chance"), "{checked}");
    for (before, body, text) in [
        // With the answer, or whenever the system brings it.
        ("pass", "send(json.dumps(answer) + '\\ndone'); continue", "found \"done\""),
        ("pass", "send(json.dumps(answer)); send('done'); continue", "found \"done\""),
        ("n = []", "n.append(1); len(n) > 1 and sys.exit(9)", "exited with code 9"),
        ("n = []", "n.append(1); results[0]['objective'] = len(n)", "when it is evaluated again"),
    ] {
        let single = ["check", "run.toml", "--set", "evaluator.rows_per_request=1"];
        let checked = lab(before, body).call(&single).success().stdout;
        assert!(checked.contains("warning: ") && checked.contains(text), "expected {text:?} in {checked}");
    }
    let third = lab("os.environ['LUMINARY_WORKER'] == '2' and sys.exit('only two licences')", "pass");
    third.call(&["check", "run.toml", "--set", "evaluator.workers=4"]).fails(1, &["worker 2", "only two licences"]);
}

#[test]
fn check_has_every_worker_evaluate_and_compares_them() {
    let four = ["check", "run.toml", "--set", "evaluator.workers=4"];
    let of_third = "os.environ['LUMINARY_WORKER'] == '2' and ";
    for (body, text) in [
        (format!("{of_third}sys.exit('no mesh on this machine')"), "no mesh on this machine"),
        (format!("{of_third}answer.update(results=[{{'error': 'no licence'}}])"), "reported an error: no licence"),
    ] {
        let checked = lab("pass", &body).call(&four).fails(1, &["expected a value of every worker", "worker 2", text]);
        assert!(!checked.stdout.contains("ready"), "{}", checked.stdout);
    }
    let other = lab("pass", &format!("{of_third}results[0].update(objective=7)"));
    let checked = other.call(&four).success().stdout;
    assert!(
        checked.contains("warning: worker 2 gives the start the objective 7, and the first worker 10"),
        "{checked}"
    );
    let alike = lab("pass", "pass").call(&four).success().stdout;
    assert!(!alike.contains("warning"), "{alike}");
}

#[test]
fn a_pilot_shows_what_a_run_would_meet_and_proposes_settings() {
    let body = "for r in results:
        r['measures'] = [5 + 40 * r['measures'][0], 41 * r['measures'][0]]
        count = 1 + int(open('count').read() if os.path.exists('count') else 0)
        open('count', 'w').write(str(count))
        r['measures'][1] += 0.5 * (count % 2)
        r['objective'] -= 1000
    if x[2] > 0.6: results[:] = [{'error': 'diverged'} for r in results]";
    let lab = lab("pass", body);
    let set = ["--set", "algorithm.bounds={lower = -1, upper = 1}"];
    let checked = lab.call(&[&["check", "run.toml", "--pilot", "41"], &set[..]].concat()).success().stdout;
    for text in [
        "pilot        41 solutions, drawn uniformly within the bounds, each evaluated twice",
        "median",
        "reported by the evaluator, the first: row 0 has no value: the evaluator reported an error: diverged",
        "% outside, noise 0 (0 cells)",
        "measures 0 and 1: rank correlation 1.00: they say almost the same, choose another",
        "of 100 hit",
        "problem.measures = [[-4",
        "archive.min_f = -99",
        "evaluator.time_limit = ",
    ] {
        assert!(checked.contains(text), "expected {text:?} in {checked}");
    }
    let domain = Lab::new();
    let flags = ["--domain", "lp-sphere", "--n", "10", "--resolution", "20", "--pilot", "50"];
    let checked = domain.call(&[&["check"], &flags[..]].concat()).success().stdout;
    assert!(checked.contains("drawn normally around x0 with sigma") && checked.contains("of 400 hit"), "{checked}");
    domain.call(&["check", "--domain", "arm", "--pilot", "1"]).fails(2, &["--pilot"]);
}

#[test]
fn init_writes_an_evaluator_that_runs_as_it_is_and_is_found_without_a_name() {
    for kind in ["python", "shell", "files"] {
        let lab = Lab::new();
        lab.call(&["init", "--evaluator", kind]).success();
        lab.call(&["init", "--evaluator", kind]).fails(2, &["expected a new file, found luminary.toml"]);
        let checked = lab.call(&["check"]).success().stdout;
        assert!(checked.contains("throw (n = 3)") && checked.ends_with("ready\n"), "{checked}");
        // What a pilot proposes has an effect: files know no hello, and no time limit for it.
        let pilot = lab.call(&["check", "--pilot", "3"]).success().stdout;
        assert_eq!(pilot.contains("evaluator.start_time_limit = "), kind == "python", "{pilot}");
        lab.call(&["run", "--iterations", "1", "--out", "run", "--quiet"]).success();
        let figures = lab.show("run");
        assert_eq!((&figures["invalid"], &figures["evaluations"]), (&0.into(), &48.into()));
        assert!(figures["elites"].as_u64().unwrap() > 5, "{figures}");
        // Flags that say what is evaluated need no file, as ever.
        lab.call(&["check", "--domain", "arm"]).success();
    }
    let lab = Lab::new();
    fs::write(lab.path("evaluator.py"), "years of work").unwrap();
    lab.call(&["init", "--evaluator", "python"]).fails(2, &["found evaluator.py; it stays as it is"]);
    assert!(!lab.path("luminary.toml").exists(), "nothing is left behind");
    fs::create_dir(lab.path("sub")).unwrap();
    let made = lab.call(&["init", "sub/run.toml", "--evaluator", "shell"]).success().stdout;
    assert!(made.contains("cd sub, luminary check run.toml"), "{made}");
    lab.call(&["check"]).fails(2, &["problem.domain"]);
}
