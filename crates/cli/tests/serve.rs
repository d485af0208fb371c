//! `reticent budget serve`, by what travels.
#![cfg(feature = "serve")]
#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::common::Folder;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// A server that stops by itself if a test forgets to.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn new(folder: &Folder, flags: &[&str]) -> Self {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin("reticent"))
            .args(["budget", "serve", "clinic.budget", "--port", "0", "--stop-after", "600"])
            .args(flags)
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.split("http://").nth(1).unwrap_or_else(|| panic!("{line}"));
        let address = address.split('/').next().unwrap().to_owned();
        Self { child, address }
    }

    /// What is answered to these bytes.
    fn raw(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // What is refused by its head is not read to its end.
        let _ = stream.write_all(request.as_bytes());
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    }

    fn get(&self, path: &str) -> String {
        self.raw(&format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.address))
    }

    fn post(&self, path: &str, kind: &str, more: &str, body: &str) -> String {
        self.raw(&format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n{more}\r\n{body}",
            self.address,
            body.len()
        ))
    }

    fn form(&self, path: &str, more: &str, body: &str) -> String {
        self.post(path, "application/x-www-form-urlencoded", more, body)
    }

    fn upload(&self, text: &str) -> String {
        let body = format!(
            "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a<b>.json\"\r\n\r\n{text}\r\n--x--\r\n"
        );
        self.post("/verify", "multipart/form-data; boundary=x", "", &body)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Lets nobody else read a file.
fn private(file: &std::path::Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    let _ = file;
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or(answer)
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.reticent("budget new clinic.budget --epsilon 3 --delta 1e-6").ok();
    folder
}

#[test]
fn pages_are_shown_and_forbid_everything_else() {
    let folder = folder();
    let server = Server::new(&folder, &[]);
    for (path, words) in [
        ("/", "Budgets"),
        ("/budget/1", "Budget of clinic"),
        ("/budget/1/history", "opened"),
        ("/budget/1/plan?epsilon=1&delta=1e-6", "Fits"),
        ("/budget/1/plan?epsilon=5&delta=1e-6", "Does not fit"),
        ("/budget/1/plan?epsilon=%3Cscript%3E&delta=", "Cannot be worked out"),
        ("/verify", "Verify a file"),
    ] {
        let answer = server.get(path);
        assert_eq!(status(&answer), "200", "{path}: {answer}");
        assert!(answer.contains(words) && !answer.contains("<script"), "{path}: {answer}");
        let lower = answer.to_lowercase();
        for header in [
            "content-security-policy: default-src 'none'; style-src 'sha256-",
            "frame-ancestors 'none'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cache-control: no-store",
        ] {
            assert!(lower.contains(header), "{path}: {header}");
        }
        assert!(!lower.contains("set-cookie"), "{path}");
    }
    for missing in ["/budget/0", "/budget/2", "/budget/x", "/etc/passwd", "/budget/1/../../x"] {
        assert_eq!(status(&server.get(missing)), "404", "{missing}");
    }
    assert!(!server.get("/budget/1").to_lowercase().contains("refresh: 10"));
    assert!(server.get("/budget/1?watch=yes").to_lowercase().contains("\r\nrefresh: 10"));
}

#[test]
fn a_request_for_another_name_or_from_another_site_is_refused() {
    let folder = folder();
    let server = Server::new(&folder, &["--host", "officer.example"]);
    for host in ["evil.example", "evil.example:80", "localhost", ""] {
        let answer = server.raw(&format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        assert_ne!(status(&answer), "200", "{host}");
        assert!(!answer.contains("clinic"), "{host}");
    }
    let named = server.raw("GET / HTTP/1.1\r\nHost: officer.example\r\n\r\n");
    assert_eq!(status(&named), "200");
    let elsewhere = "Origin: http://evil.example\r\n";
    assert_eq!(status(&server.form("/budget/1/forfeit", elsewhere, "job=2")), "403");
    let elsewhere = "Sec-Fetch-Site: cross-site\r\n";
    assert_eq!(
        status(&server.post("/verify", "multipart/form-data; boundary=x", elsewhere, "")),
        "403"
    );
}

#[test]
fn nothing_is_written_without_the_token() {
    let folder = folder();
    let before = folder.reticent("budget show clinic.budget --json").ok().out;
    let server = Server::new(&folder, &[]);
    let answer = server.form("/budget/1/forfeit", "", &format!("job=2&token={TOKEN}"));
    assert_eq!(status(&answer), "403", "read-only, whatever is given: {answer}");
    drop(server);
    private(&folder.write("token", format!("{TOKEN}\n")));
    let server = Server::new(&folder, &["--token-file", "token"]);
    for token in ["", "0123456789abcdef", "0123456789abcdef0123456789abcdeF"] {
        let answer = server.form("/budget/1/forfeit", "", &format!("job=2&token={token}"));
        assert_eq!(status(&answer), "403", "{token}");
    }
    // The right one reaches the budget, which has no such job.
    let answer = server.form("/budget/1/forfeit", "", &format!("job=2&token={TOKEN}"));
    assert_eq!(status(&answer), "409", "{answer}");
    let bearer = format!("Authorization: Bearer {TOKEN}\r\n");
    assert_eq!(status(&server.form("/budget/1/forfeit", &bearer, "job=2")), "409");
    assert_eq!(status(&server.get("/budget/1/forfeit")), "405");
    assert_eq!(folder.reticent("budget show clinic.budget --json").ok().out, before);
}

#[test]
fn a_token_that_can_be_guessed_is_refused() {
    let folder = folder();
    for token in ["", "short\n"] {
        private(&folder.write("token", token));
        let said = folder.reticent("budget serve clinic.budget --port 0 --token-file token");
        assert_eq!(said.code, 2, "{}", said.err);
        assert!(said.err.contains("too short"), "{}", said.err);
    }
    let said = folder.reticent("budget serve missing.budget --port 0 --stop-after 1");
    assert_eq!(said.code, 2, "{}", said.err);
}

#[test]
fn uploads_are_verified_and_bounded() {
    let folder = folder();
    let server = Server::new(&folder, &[]);
    for text in ["", "{}", "[[[[", "{\"certificate\": 1}", "<script>alert(1)</script>"] {
        let answer = server.upload(text);
        assert_eq!(status(&answer), "422", "{text}: {answer}");
        assert!(!answer.contains("<script"), "{answer}");
    }
    let long = server.upload(&"x".repeat(17 * 1024 * 1024));
    assert!(["413", ""].contains(&status(&long)) || long.is_empty(), "{}", status(&long));
    let head =
        format!("GET / HTTP/1.1\r\nHost: {}\r\nX: {}\r\n\r\n", server.address, "x".repeat(100_000));
    assert_ne!(status(&server.raw(&head)), "200");
    assert_eq!(status(&server.raw("nonsense\r\n\r\n")), "400");
    assert_eq!(status(&server.get("/")), "200", "it still serves");
}

#[test]
fn it_stops_by_itself_and_when_asked() {
    let folder = folder();
    let said = folder.reticent("budget serve clinic.budget --port 0 --stop-after 1 --json").ok();
    assert_eq!(said.json()["connections"], 0);
    #[cfg(unix)]
    {
        let mut server = Server::new(&folder, &[]);
        assert_eq!(status(&server.get("/")), "200");
        let id = server.child.id().to_string();
        assert!(Command::new("kill").arg(&id).status().unwrap().success());
        assert!(server.child.wait().unwrap().success(), "asked to stop, it ends well");
    }
}

#[test]
#[cfg(unix)]
fn a_token_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    for mode in [0o644, 0o640, 0o604] {
        let file = folder.write("shared", TOKEN);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        let said = folder
            .reticent("budget serve clinic.budget --port 0 --stop-after 1 --token-file shared");
        assert!(said.code == 2 && said.err.contains("chmod 600"), "{mode:o}: {}", said.err);
        assert!(!said.err.contains(TOKEN));
    }
}

#[test]
fn whoever_listens_to_everybody_is_warned() {
    let folder = folder();
    let serve = "budget serve clinic.budget --port 0 --stop-after 1";
    let said = folder.reticent(&format!("{serve} --listen 0.0.0.0")).ok();
    assert!(said.err.contains("not encrypted"), "{}", said.err);
    assert!(!folder.reticent(serve).ok().err.contains("not encrypted"));
}

#[test]
fn eighty_idle_connections_stall_nobody() {
    let folder = folder();
    let server = Server::new(&folder, &[]);
    let idle: Vec<TcpStream> =
        (0..80).map(|_| TcpStream::connect(&server.address).unwrap()).collect();
    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    write!(stream, "GET / HTTP/1.1\r\nHost: {}\r\n\r\n", server.address).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert_eq!(status(&answer), "200");
    // 64 may be here at once, so that those who came first were sent away for the newest. An idle one of those who are left is
    // sent away after ten seconds; it is here, so that the answer did not wait for that.
    let left = &idle[30];
    left.set_nonblocking(true).unwrap();
    let here = (&mut &*left).read(&mut [0]).unwrap_err();
    assert_eq!(here.kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn a_long_body_is_refused_by_its_header() {
    let folder = folder();
    let server = Server::new(&folder, &[]);
    for (path, length) in [("/verify", 17 << 20), ("/budget/1/forfeit", 5000), ("/", 5000)] {
        // Nothing of the body is sent.
        let answer = server.raw(&format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\r\n",
            server.address
        ));
        assert_eq!(status(&answer), "413", "{path}: {answer}");
    }
}
