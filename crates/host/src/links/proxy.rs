//! A connection through an HTTP proxy (RFC 9110, section 9.3.6: CONNECT). The proxy sees the lead's
//! address and encrypted bytes; TLS begins behind it.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use super::secure::ByteStream;
use super::tls::connected;
use super::{LinkError, failed, of_io};

/// The longest answer of a proxy, in bytes.
const LONGEST_HEAD: usize = 1 << 13;

/// A proxy, as `http://host:port`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(try_from = "String")]
pub struct HttpProxy {
    address: String,
}

impl TryFrom<String> for HttpProxy {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        HttpProxy::parse(&text)
    }
}

impl HttpProxy {
    /// The proxy of this text.
    ///
    /// # Errors
    /// If the text names none; a message in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let refuse = |why: &str| Err(format!("proxy = \"{text}\": {why}"));
        let Some(rest) = text.strip_prefix("http://") else {
            return refuse("it must be http://HOST:PORT");
        };
        let address = rest.strip_suffix('/').unwrap_or(rest);
        if address.contains('@') {
            // The text is not repeated: it may hold a password.
            let why = "a name and a password are not sent to proxies; use a forwarder of your own";
            return Err(format!("proxy: {why}"));
        }
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-.:[]_".contains(c);
        let port = address.rsplit_once(':').and_then(|(host, port)| {
            let port = port.parse::<u16>().ok().filter(|port| *port > 0);
            port.filter(|_| !host.is_empty())
        });
        match port {
            Some(_) if address.chars().all(is_plain) => {
                Ok(HttpProxy { address: address.to_owned() })
            }
            _ => refuse("it must be http://HOST:PORT"),
        }
    }

    /// A connection to `target`, which the proxy resolves and opens.
    pub(crate) fn connect(&self, target: &str, until: Instant) -> Result<TcpStream, LinkError> {
        let mut socket = connected(&self.address, until).map_err(|why| match why {
            LinkError::Failed(why) => failed(format!("the proxy {}: {why}", self.address)),
            other => other,
        })?;
        // The roster refuses control characters in an address; here spaces are refused too.
        if target.contains(char::is_whitespace) {
            return Err(failed("the lead's address has a space in it"));
        }
        let asked = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n");
        socket.write_by(until)?;
        socket.write_all(asked.as_bytes()).map_err(|error| of_io(&error))?;
        let head = head(&mut socket, until)?;
        match status(&head) {
            Some(200..=299) => Ok(socket),
            Some(407) => Err(failed("the proxy asks for a name and a password")),
            Some(code) => Err(failed(format!("the proxy refuses (HTTP {code})"))),
            None => Err(failed("what is there is no HTTP proxy")),
        }
    }
}

/// The header of the proxy's answer, read byte by byte: TLS follows it.
fn head(socket: &mut TcpStream, until: Instant) -> Result<Vec<u8>, LinkError> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= LONGEST_HEAD {
            return Err(failed("the proxy's answer does not end"));
        }
        socket.read_by(until)?;
        let mut byte = [0];
        match socket.read(&mut byte) {
            Ok(0) => return Err(LinkError::Closed),
            Ok(_) => head.push(byte[0]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(of_io(&error)),
        }
    }
    Ok(head)
}

/// The code of `HTTP/1.1 200 …`.
fn status(head: &[u8]) -> Option<u16> {
    let line = head.split(|byte| *byte == b'\r').next()?;
    let rest = line.strip_prefix(b"HTTP/1.1 ").or_else(|| line.strip_prefix(b"HTTP/1.0 "))?;
    std::str::from_utf8(rest.get(..3)?).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_named_by_host_and_port_and_nothing_else() {
        for good in ["http://proxy.clinic.example:3128", "http://10.0.0.1:8080/", "http://[::1]:1"]
        {
            HttpProxy::parse(good).unwrap();
        }
        for bad in [
            "proxy:3128",
            "https://proxy:3128",
            "http://proxy",
            "http://:3128",
            "http://proxy:0",
            "http://proxy:3128/path",
            "http://a\r\nb:1",
            "socks5://proxy:1",
        ] {
            assert!(HttpProxy::parse(bad).unwrap_err().contains("HOST:PORT"), "{bad}");
        }
        let secret = HttpProxy::parse("http://me:secret@proxy:3128").unwrap_err();
        assert!(secret.contains("password") && !secret.contains("secret"), "{secret}");
    }

    #[test]
    fn only_a_status_of_http_is_one() {
        assert_eq!(status(b"HTTP/1.1 200 Connection established\r\n\r\n"), Some(200));
        assert_eq!(status(b"HTTP/1.0 407 x\r\n\r\n"), Some(407));
        for none in
            [&b"\r\n\r\n"[..], b"HTTP/1.1 2\r\n\r\n", b"SSH-2.0\r\n\r\n", b"HTTP/1.1 abc\r\n"]
        {
            assert_eq!(status(none), None);
        }
    }
}
