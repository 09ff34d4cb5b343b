//! A real ssh server on loopback, with keys and a configuration of its own, that stands for a machine.

use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Where Debian and others have it; it is seldom in the search path.
const PLACES: [&str; 3] = ["/usr/sbin/sshd", "/usr/local/sbin/sshd", "/sbin/sshd"];

/// Machines with names of their own, all of them this one. Each has its own server, which ends with this object.
pub(crate) struct Network {
    folder: TempDir,
    machines: Vec<Machine>,
}

struct Machine {
    name: &'static str,
    port: u16,
    server: Option<Child>,
}

impl Network {
    /// Machines with these names, all of them up.
    pub(crate) fn new(names: &[&'static str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for key in ["host", "user"] {
            let mut command = Command::new("ssh-keygen");
            command.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(folder.path().join(key));
            assert!(command.status().expect("ssh-keygen is installed with ssh").success());
        }
        // A server of the superuser's wants a place for its part without rights, and others do not need it.
        fs::create_dir_all("/run/sshd").ok();
        let mut network = Self { folder, machines: Vec::new() };
        for &name in names {
            let (port, server) = network.boot_somewhere();
            network.machines.push(Machine { name, port, server: Some(server) });
        }
        network.write_client_config();
        network
    }

    /// The launcher of configurations, as TOML: ssh with the keys of this network.
    pub(crate) fn launcher(&self) -> String {
        let config = self.file("client");
        format!(
            "['ssh', '-F', '{}', '-T', '-o', 'BatchMode=yes', '-o', 'ConnectTimeout=10', '{{host}}']",
            config.display()
        )
    }

    /// Ends the server of a machine and all sessions with it.
    pub(crate) fn crash(&mut self, name: &str) {
        let machine = self.machines.iter_mut().find(|machine| machine.name == name).unwrap();
        if let Some(server) = machine.server.take() {
            end(server);
        }
    }

    /// Starts the server of a machine again.
    pub(crate) fn boot(&mut self, name: &str) {
        let at = self.machines.iter().position(|machine| machine.name == name).unwrap();
        let port = self.machines[at].port;
        let server = (0..100).find_map(|_| self.serve(port)).expect("the port is free again");
        self.machines[at].server = Some(server);
    }

    fn boot_somewhere(&self) -> (u16, Child) {
        let attempt = |_| {
            // Somebody else may take the port in between.
            let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
            Some((port, self.serve(port)?))
        };
        (0..100).find_map(attempt).expect("one of a hundred ports is free")
    }

    /// A server that listens, or nothing if the port is taken.
    fn serve(&self, port: u16) -> Option<Child> {
        let sshd = PLACES.iter().find(|place| Path::new(place).exists());
        let sshd = sshd.unwrap_or_else(|| panic!("expected sshd in {PLACES:?}: install openssh-server"));
        let config = self.file(&format!("server-{port}"));
        let text = format!(
            "ListenAddress 127.0.0.1:{port}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nUsePAM no\nStrictModes no\n\
             PermitRootLogin yes\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n",
            self.file("host").display(),
            self.file("user.pub").display()
        );
        fs::write(&config, text).unwrap();
        let mut command = Command::new(sshd);
        command.arg("-D").arg("-f").arg(&config).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        listening(command.spawn().unwrap(), port)
    }

    fn write_client_config(&self) {
        let key = fs::read_to_string(self.file("host.pub")).unwrap();
        let known = self.machines.iter().map(|machine| format!("[127.0.0.1]:{} {key}", machine.port));
        fs::write(self.file("known"), known.collect::<String>()).unwrap();
        let block = |machine: &Machine| {
            format!(
                "Host {}\n  HostName 127.0.0.1\n  Port {}\n  IdentityFile {}\n  IdentitiesOnly yes\n  \
                 UserKnownHostsFile {}\n  StrictHostKeyChecking yes\n",
                machine.name,
                machine.port,
                self.file("user").display(),
                self.file("known").display()
            )
        };
        fs::write(self.file("client"), self.machines.iter().map(block).collect::<String>()).unwrap();
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        self.machines.iter_mut().filter_map(|machine| machine.server.take()).for_each(end);
    }
}

/// The server once it listens; nothing if it has ended, because the port is taken.
fn listening(mut server: Child, port: u16) -> Option<Child> {
    let start = Instant::now();
    while server.try_wait().unwrap().is_none() {
        if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Some(server);
        }
        assert!(start.elapsed() < Duration::from_secs(30), "sshd neither listens nor ends");
        std::thread::sleep(Duration::from_millis(10));
    }
    None
}

/// Ends a server with its sessions. What runs in these finds its input closed.
fn end(mut server: Child) {
    let mut family = vec![server.id()];
    let table = Command::new("ps").args(["-eo", "pid=,ppid=,comm="]).output().unwrap();
    let table = String::from_utf8_lossy(&table.stdout).into_owned();
    let row = |line: &str| {
        let mut words = line.split_whitespace();
        Some((words.next()?.parse::<u32>().ok()?, words.next()?.parse::<u32>().ok()?, words.next()?.to_owned()))
    };
    let rows: Vec<(u32, u32, String)> = table.lines().filter_map(row).collect();
    let mut at = 0;
    while let Some(&parent) = family.get(at) {
        let children = rows.iter().filter(|(_, of, name)| *of == parent && name.starts_with("sshd"));
        family.extend(children.map(|(id, ..)| *id));
        at += 1;
    }
    server.kill().unwrap();
    server.wait().unwrap();
    for session in &family[1..] {
        Command::new("kill").args(["-KILL", &session.to_string()]).stderr(Stdio::null()).status().unwrap();
    }
}
