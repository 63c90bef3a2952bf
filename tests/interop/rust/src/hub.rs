//! `evenkeel dev` as a process of our own.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

pub struct Hub {
    pub folder: PathBuf,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    process: Option<Child>,
    port: u16,
    ready: String,
}

impl Hub {
    pub fn new() -> Hub {
        let folder = std::env::temp_dir().join(format!("evenkeel-interop-rust-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for the hub");
        Hub { folder, state: Mutex::default() }
    }

    /// Starts on a free port, or again on the one it had.
    pub fn start(&self) {
        let mut state = self.state.lock().unwrap();
        let ready = self.folder.join("ready.json");
        let _ = std::fs::remove_file(&ready);
        let mut process = Command::new(std::env::var("EVENKEEL").expect("EVENKEEL"))
            .args(["dev", "--http-port", "0", "--tls-port", "0", "--https-port", "0"])
            .args(["--hub", "eh1:4", "--hub", "eh2:2", "--port", &state.port.to_string()])
            .arg("--data").arg(self.folder.join("data"))
            .arg("--certificate-file").arg(self.certificate())
            .arg("--ready-file").arg(&ready)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the hub starts");
        let output = BufReader::new(process.stdout.take().unwrap());
        output.lines().map_while(Result::ok).find(|line| line.starts_with("Ctrl-C"));
        let started = Instant::now();
        while !ready.exists() {
            assert!(started.elapsed() < Duration::from_secs(20), "the hub did not become ready");
            std::thread::yield_now();
        }
        state.ready = std::fs::read_to_string(&ready).unwrap();
        state.port = number(&state.ready, "amqp_port");
        state.process = Some(process);
    }

    pub fn port(&self, name: &str) -> u16 {
        number(&self.state.lock().unwrap().ready, name)
    }

    pub fn certificate(&self) -> PathBuf {
        self.folder.join("certificate.pem")
    }

    pub fn kill(&self) {
        let mut process = self.state.lock().unwrap().process.take().expect("a running hub");
        process.kill().unwrap();
        process.wait().unwrap();
    }

    /// Asks it to end, and waits.
    pub fn stop(&self) {
        let mut process = self.state.lock().unwrap().process.take().expect("a running hub");
        Command::new("kill").args(["-TERM", &process.id().to_string()]).status().unwrap();
        process.wait().unwrap();
    }

    pub fn remove(&self) {
        self.kill();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Malformed events and damaged records; see tests/interop/poison.
pub fn poison(words: &[&str]) {
    let done = Command::new(std::env::var("POISON").expect("POISON")).args(words).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
}

/// The number behind `"name":` in the hub's ready file.
fn number(ready: &str, name: &str) -> u16 {
    let after = ready.split(&format!("\"{name}\"")).nth(1).unwrap_or_else(|| panic!("no {name} in {ready}"));
    let digits: String = after.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}
