//! A service in a process, and a client with just enough HTTP.

#![allow(dead_code)] // each test file uses a part
#![allow(clippy::unwrap_used, clippy::panic)] // test code

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value;

/// A running service. It is killed when it goes out of scope.
pub(crate) struct Service {
    pub(crate) child: Child,
    pub(crate) address: String,
    /// What it printed until it listened.
    pub(crate) notes: Vec<String>,
    lines: Receiver<String>,
}

impl Service {
    /// Starts a command; `None` if it ends before it listens.
    pub(crate) fn try_start(mut command: Command) -> Result<Self, Vec<String>> {
        let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let reader = BufReader::new(child.stderr.take().unwrap());
        let (send, lines) = channel();
        std::thread::spawn(move || {
            reader.lines().map_while(Result::ok).try_for_each(|line| send.send(line))
        });
        let mut notes = Vec::new();
        while let Ok(line) = lines.recv_timeout(Duration::from_secs(300)) {
            if let Some(address) = line.strip_prefix("geowalk serves http://") {
                return Ok(Self { child, address: address.to_owned(), notes, lines });
            }
            notes.push(line);
        }
        let _ = child.kill();
        let _ = child.wait();
        Err(notes)
    }

    pub(crate) fn start(command: Command) -> Self {
        Self::try_start(command).unwrap_or_else(|notes| panic!("it did not start: {notes:?}"))
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(&self.address).unwrap()
    }

    /// Sends SIGTERM and waits; the exit code and what was printed.
    pub(crate) fn terminate(mut self) -> (Option<i32>, Vec<String>) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        let code = self.child.wait().unwrap().code();
        (code, self.lines.iter().collect())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A connection that stays open.
pub(crate) struct Client {
    stream: BufReader<TcpStream>,
    pub(crate) token: Option<String>,
    /// The header lines of the last answer.
    pub(crate) headers: Vec<String>,
}

impl Client {
    pub(crate) fn connect(address: &str) -> std::io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(300)))?;
        Ok(Self { stream: BufReader::new(stream), token: None, headers: Vec::new() })
    }

    /// Status and body of an answer.
    pub(crate) fn ask(
        &mut self,
        method: &str,
        path: &str,
        kind: &str,
        body: &[u8],
    ) -> std::io::Result<(u16, Vec<u8>)> {
        if self.headers.iter().any(|line| line == "connection: close") {
            let address = self.stream.get_ref().peer_addr()?.to_string();
            *self = Self { token: self.token.take(), ..Self::connect(&address)? };
        }
        let token = self
            .token
            .as_ref()
            .map_or_else(String::new, |t| format!("Authorization: Bearer {t}\r\n"));
        let kind =
            if kind.is_empty() { String::new() } else { format!("Content-Type: {kind}\r\n") };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: test\r\n{token}{kind}Content-Length: {}\r\n\r\n",
            body.len()
        );
        self.stream.get_mut().write_all(&[head.as_bytes(), body].concat())?;
        self.answer()
    }

    fn answer(&mut self) -> std::io::Result<(u16, Vec<u8>)> {
        self.headers.clear();
        let (mut length, mut line) = (0, String::new());
        loop {
            line.clear();
            if self.stream.read_line(&mut line)? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            let text = line.trim_end();
            if text.is_empty() {
                break;
            }
            self.headers.push(text.to_ascii_lowercase());
            if let Some(value) = text.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        Ok((self.headers[0].split(' ').nth(1).unwrap().parse().unwrap(), body))
    }

    /// Bytes as they are; the answer to them.
    pub(crate) fn raw(&mut self, bytes: &[u8]) -> std::io::Result<(u16, Vec<u8>)> {
        self.stream.get_mut().write_all(bytes)?;
        self.answer()
    }

    /// The JSON of an answer with this status.
    #[track_caller]
    pub(crate) fn json(&mut self, status: u16, method: &str, path: &str, body: &str) -> Value {
        let (found, bytes) = self.ask(method, path, "application/json", body.as_bytes()).unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert_eq!(found, status, "{method} {path} {body}: {text}");
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("{method} {path}: {text}"))
    }

    #[track_caller]
    pub(crate) fn post(&mut self, path: &str, body: &str) -> Value {
        self.json(200, "POST", path, body)
    }

    #[track_caller]
    pub(crate) fn get(&mut self, path: &str) -> Value {
        self.json(200, "GET", path, "")
    }

    /// The bytes of an answer that is a success.
    #[track_caller]
    pub(crate) fn bytes(&mut self, path: &str) -> Vec<u8> {
        let (status, bytes) = self.ask("GET", path, "", b"").unwrap();
        assert_eq!(status, 200, "{path}: {}", String::from_utf8_lossy(&bytes));
        bytes
    }
}
