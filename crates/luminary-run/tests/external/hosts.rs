//! Workers on hosts. The launcher is a stand-in for ssh, a shell script, so that hosts can go down and come back at will; the
//! command line is tested with a real sshd.

use std::fs;
use std::process::Command;

use luminary_run::config::ProblemConfig;
use luminary_run::driver::Run;
use luminary_run::external::{
    EvaluationReport, ExternalConfig, ExternalError, ExternalEvaluator, FaultKind, Host, HostEvent,
};

use luminary_run::stop::StopFlag;

use crate::completion;
use crate::support::{Program, SHAPE, Trial, is_running, wait_until};

/// A host is up while a file has its name. Sessions write down their process group, which dies with the host.
const STAND_IN: &str = r#"
host=$1
line=$2
cd "$(dirname "$0")"
if ! [ -e "up-$host" ]; then
    echo "stand-in: no route to $host" >&2
    exit 255
fi
echo $$ >> "sessions-$host"
exec sh -c "$line"
"#;

/// A worker that answers, and waits for as long as the file `hold` is there.
const PATIENT: &str = r#"
say_hello(jacobian=True)
for request in requests():
    count("asked-" + os.environ["LUMINARY_WORKER"])
    while os.path.exists("hold"): time.sleep(0.01)
    answer(request, results(request))
"#;

/// A program with a stand-in beside it.
struct Cluster {
    program: Program,
    config: ExternalConfig,
}

impl Cluster {
    fn new(program: Program, hosts: &[&str]) -> Self {
        fs::write(program.path("launch.sh"), STAND_IN).unwrap();
        let launcher = vec!["sh".into(), program.path("launch.sh").to_str().unwrap().into(), "{host}".into()];
        let hosts: Vec<Host> = hosts.iter().map(|host| host.parse().unwrap()).collect();
        let config = ExternalConfig {
            workers: hosts.iter().map(|host| host.workers).sum(),
            hosts,
            launcher: Some(launcher),
            rows_per_request: Some(1),
            retries: 0,
            host_patience: 60.0,
            ..program.config()
        };
        let cluster = Self { program, config };
        cluster.config.hosts.iter().for_each(|host| cluster.boot(&host.name));
        cluster
    }

    fn boot(&self, host: &str) {
        fs::write(self.program.path(&format!("up-{host}")), "").unwrap();
    }

    /// Nothing of a host is left, and it cannot be reached.
    fn crash(&self, host: &str) {
        fs::remove_file(self.program.path(&format!("up-{host}"))).unwrap();
        self.signal(host, "KILL");
    }

    fn signal(&self, host: &str, signal: &str) {
        let sessions = fs::read_to_string(self.program.path(&format!("sessions-{host}"))).unwrap();
        for group in sessions.lines() {
            // Sessions that are over have no group any more.
            let kill = format!("kill -s {signal} -- -{group}");
            Command::new("sh").args(["-c", &kill]).output().unwrap();
        }
    }

    fn start(&self) -> ExternalEvaluator {
        ExternalEvaluator::start(&self.config, SHAPE).unwrap()
    }

    fn has(&self, name: &str) -> bool {
        self.program.path(name).exists()
    }

    /// Evaluates a batch while something happens.
    fn run_while(
        &self,
        evaluator: &mut ExternalEvaluator,
        trial: &mut Trial,
        happens: impl FnOnce() + Send,
    ) -> Result<EvaluationReport, ExternalError> {
        std::thread::scope(|scope| {
            let events = scope.spawn(happens);
            let report = trial.run(evaluator);
            events.join().unwrap();
            report
        })
    }
}

fn names(report: &EvaluationReport) -> Vec<String> {
    let name = |event: &HostEvent| match event {
        HostEvent::Lost { host, .. } => format!("lost {host}"),
        HostEvent::Back { host } => format!("back {host}"),
    };
    report.host_events.iter().map(name).collect()
}

#[test]
fn workers_on_hosts_evaluate_as_workers_here_do() {
    let cluster = Cluster::new(Program::python(PATIENT), &["a*2", "b"]);
    let mut trial = Trial::new(40, &[]);
    let report = trial.run_with(&cluster.config).unwrap();
    trial.check(&report, &[], None);
    assert!(report.events.is_empty() && report.host_events.is_empty(), "{report:?}");
    assert!((0..3).all(|worker| cluster.has(&format!("asked-{worker}"))));
    let sessions = |host: &str| fs::read_to_string(cluster.program.path(&format!("sessions-{host}"))).unwrap();
    assert_eq!((sessions("a").lines().count(), sessions("b").lines().count()), (2, 1));
}

#[test]
fn words_folders_and_variables_arrive_as_they_are() {
    let odd = r#"it's "odd" $HOME `x` \n * ; & | <>"#;
    let body = format!(
        "odd = {odd:?}\nassert sys.argv[1:] == [odd, '', 'two words'], sys.argv\nassert os.environ['ODD'] == odd\n\
         assert os.environ['A-B'] == '1' and os.getcwd().endswith(\"a folder's name\")\nsay_hello()\n\
         for request in requests(): answer(request, results(request))\n"
    );
    let mut cluster = Cluster::new(Program::python(&body), &["a"]);
    let folder = cluster.program.path("a folder's name");
    fs::create_dir(&folder).unwrap();
    fs::rename(cluster.program.path("worker.py"), folder.join("worker.py")).unwrap();
    cluster.config.directory = Some(folder);
    cluster.config.command.extend([odd, "", "two words"].map(String::from));
    cluster.config.env = [("ODD", odd), ("A-B", "1")].map(|(name, value)| (name.into(), value.into())).into();
    let mut trial = Trial::new(5, &[]);
    let report = trial.run_with(&cluster.config).unwrap();
    trial.check(&report, &[], None);
}

#[test]
fn a_host_that_is_down_at_the_start_is_taken_when_it_comes() {
    let cluster = Cluster::new(Program::python(PATIENT), &["a", "b*2"]);
    fs::remove_file(cluster.program.path("up-b")).unwrap();
    let mut evaluator = cluster.start();
    fs::write(cluster.program.path("hold"), "").unwrap();
    let mut trial = Trial::new(20, &[]);
    let report = cluster.run_while(&mut evaluator, &mut trial, || {
        wait_until("the first works", || cluster.has("asked-0"));
        cluster.boot("b");
        wait_until("the others work", || cluster.has("asked-1") && cluster.has("asked-2"));
        fs::remove_file(cluster.program.path("hold")).unwrap();
    });
    let report = report.unwrap();
    trial.check(&report, &[], None);
    assert_eq!(names(&report), ["lost b", "back b"]);
    let HostEvent::Lost { event, .. } = &report.host_events[0] else { unreachable!("it was lost first") };
    let text = event.to_string();
    assert!(text.contains("on b lost its session: the launcher exited with code 255"), "{text}");
    assert!(text.contains("no route to b"), "{text}");
}

#[test]
fn a_host_that_dies_costs_no_row_and_works_again_when_it_is_back() {
    let cluster = Cluster::new(Program::python(PATIENT), &["a", "b*2"]);
    let mut evaluator = cluster.start();
    fs::write(cluster.program.path("hold"), "").unwrap();
    let mut trial = Trial::new(30, &[]);
    let report = cluster.run_while(&mut evaluator, &mut trial, || {
        wait_until("all work", || (0..3).all(|worker| cluster.has(&format!("asked-{worker}"))));
        cluster.crash("b");
        (1..3).for_each(|worker| fs::remove_file(cluster.program.path(&format!("asked-{worker}"))).unwrap());
        cluster.boot("b");
        wait_until("b works again", || cluster.has("asked-1") && cluster.has("asked-2"));
        fs::remove_file(cluster.program.path("hold")).unwrap();
    });
    let report = report.unwrap();
    trial.check(&report, &[], None);
    assert_eq!(names(&report), ["lost b", "back b"]);
    assert_eq!(report.n_repeated, 0, "rows that are lost wait for another worker, nothing is held against them");
}

#[test]
fn without_any_host_a_run_ends_once_its_patience_does() {
    let cluster = Cluster::new(Program::python(PATIENT), &["a", "b"]);
    let config = ExternalConfig { host_patience: 0.5, ..cluster.config.clone() };
    let mut evaluator = ExternalEvaluator::start(&config, SHAPE).unwrap();
    fs::write(cluster.program.path("hold"), "").unwrap();
    let error = cluster.run_while(&mut evaluator, &mut Trial::new(10, &[]), || {
        wait_until("all work", || cluster.has("asked-0") && cluster.has("asked-1"));
        ["a", "b"].iter().for_each(|host| cluster.crash(host));
    });
    let text = error.unwrap_err().to_string();
    assert!(text.contains("none of the hosts can be reached (waited 0.5 s, `host_patience`)"), "{text}");
    assert!(text.contains("lost its session"), "{text}");
}

#[test]
fn hosts_of_which_none_is_there_at_the_start_are_an_error_at_once() {
    let cluster = Cluster::new(Program::python(PATIENT), &["a*8", "b"]);
    ["a", "b"].iter().for_each(|host| fs::remove_file(cluster.program.path(&format!("up-{host}"))).unwrap());
    let error = ExternalEvaluator::start(&cluster.config, SHAPE).err().unwrap().to_string();
    assert!(error.contains("none of the hosts can be reached;") && error.contains("no route to a"), "{error}");
    let mut nobody = cluster.config.clone();
    nobody.launcher = Some(vec!["no-such-launcher".into()]);
    assert!(ExternalEvaluator::start(&nobody, SHAPE).err().unwrap().to_string().contains("no-such-launcher"));
}

#[test]
fn a_program_that_does_not_start_on_a_host_is_the_users_mistake() {
    let cluster = Cluster::new(Program::python("import no_such_module"), &["a"]);
    let error = ExternalEvaluator::start(&cluster.config, SHAPE).err().unwrap().to_string();
    assert!(error.contains("worker 0 on a exited with code 1") && error.contains("no_such_module"), "{error}");
    let mut absent = cluster.config.clone();
    absent.directory = Some("/no/such folder".into());
    let error = ExternalEvaluator::start(&absent, SHAPE).err().unwrap().to_string();
    assert!(error.contains("worker 0 on a exited with code") && error.contains("/no/such folder"), "{error}");
}

#[test]
fn what_the_program_does_wrong_on_a_host_is_told_apart_from_a_lost_host() {
    for (fault, text) in [("sys.exit(3)", "exited with code 3"), ("os.abort()", "was killed by signal 6")] {
        let cluster = Cluster::new(Program::stumbling(fault), &["a*2"]);
        let mut trial = Trial::new(12, &[4]);
        let report = trial.run_with(&cluster.config).unwrap();
        trial.check(&report, &[4], Some(FaultKind::Crash));
        assert!(report.events[0].to_string().contains(text), "{:?}", report.events);
        assert!(report.host_events.is_empty(), "{report:?}");
    }
}

#[test]
fn a_late_program_is_killed_on_its_host_with_its_children() {
    let program = Program::stumbling(
        "import subprocess\nchild = subprocess.Popen(['sleep', '1000'])\nopen('child', 'w').write(str(child.pid))\n\
         open('late', 'w').write(str(os.getpid()))\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(1000)",
    );
    let mut cluster = Cluster::new(program, &["a"]);
    cluster.config.time_limit = 0.5;
    let mut trial = Trial::new(6, &[2]);
    let mut evaluator = cluster.start();
    let report = trial.run(&mut evaluator).unwrap();
    trial.check(&report, &[2], Some(FaultKind::TimeOut));
    assert!(report.host_events.is_empty(), "{report:?}");
    for name in ["late", "child"] {
        wait_until("it is gone", || !is_running(&cluster.program.path(name)));
    }
}

#[test]
fn a_host_that_freezes_is_lost_and_not_late() {
    let mut cluster = Cluster::new(Program::python(PATIENT), &["a", "b"]);
    cluster.config.time_limit = 5.0;
    let mut evaluator = cluster.start();
    fs::write(cluster.program.path("hold"), "").unwrap();
    let mut trial = Trial::new(2, &[]);
    let report = cluster.run_while(&mut evaluator, &mut trial, || {
        wait_until("both work", || cluster.has("asked-0") && cluster.has("asked-1"));
        cluster.signal("b", "STOP");
        fs::remove_file(cluster.program.path("hold")).unwrap();
    });
    let report = report.unwrap();
    trial.check(&report, &[], None);
    assert_eq!(report.host_events.len(), 1, "{report:?}");
    let event = report.host_events[0].to_string();
    assert!(event.contains("host b is lost") && event.contains("gave no sign of life for 30 s"), "{event}");
}

#[test]
fn in_completion_order_others_go_on_while_a_host_is_down_and_it_gets_rows_again_when_it_is_back() {
    let cluster = Cluster::new(Program::python(PATIENT), &["a", "b"]);
    let mut config = completion::config(&cluster.program, "");
    let ProblemConfig::External { evaluator, .. } = &mut config.problem else { panic!("not a program") };
    **evaluator = cluster.config.clone();
    // More than there is time for: it ends when it is told to.
    config.run.iterations = 1_000_000;
    let folder = cluster.program.path("run");
    let asked = |worker: usize| {
        let path = cluster.program.path(&format!("asked-{worker}"));
        fs::metadata(path).map_or(0, |file| file.len())
    };
    let run = Run::create(&folder, config).unwrap();
    let stop = StopFlag::default();
    let summary = std::thread::scope(|scope| {
        let running = scope.spawn(|| run.execute(&stop, &mut ()));
        wait_until("both hosts work", || asked(0) > 0 && asked(1) > 0);
        cluster.crash("a");
        let before = asked(1);
        wait_until("the other host goes on", || asked(1) > before + 20);
        let before = asked(0);
        cluster.boot("a");
        wait_until("the host that was lost works again", || asked(0) > before);
        stop.request();
        running.join().unwrap().unwrap()
    });
    assert!(summary.iterations < 1_000_000, "{summary:?}");
    assert_eq!(summary.invalid, 0);
    let log = fs::read_to_string(folder.join("evaluator.log")).unwrap();
    assert!(log.contains("host a is lost") && log.contains("host a is back"), "{log}");
    completion::check_follows_from_its_journal(&folder);
}
