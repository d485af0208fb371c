//! Peak memory of reading: at most 1.2 times the table plus 50 MB. A binary of its own, because the
//! peak is the process's.
#![cfg(target_os = "linux")]

use reticent_data::{Purpose, Schema, parse_csv};
use std::io::Read;

/// One line again and again, so that the source takes no memory.
struct Repeat {
    line: Vec<u8>,
    at: usize,
    left: usize,
}

impl Read for Repeat {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.line.len() && self.left > 0 {
            (self.at, self.left) = (0, self.left - 1);
        }
        let n = out.len().min(self.line.len() - self.at);
        out[..n].copy_from_slice(&self.line[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}

#[test]
fn peak_stays_below_the_promise() {
    let columns = 40;
    let mut schema = String::from("row_norm = 1\nheader = false\n");
    for j in 0..columns {
        schema += &format!("[[column]]\nname = 'x{j}'\nkind = 'numeric'\nlower = 0\nupper = 10\n");
    }
    schema += "[[column]]\nname = 'y'\nkind = 'target'\nclasses = [0, 1]\n";
    let schema: Schema = schema.parse().expect("a valid schema");
    // Just above a power of two rows: the worst moment for arrays that double.
    let rows = 530_000;
    let source =
        Repeat { line: ("3,".repeat(columns) + "1\n").into_bytes(), at: 0, left: rows - 1 };
    let table =
        parse_csv(source, "made", &schema, b',', Purpose::Fit).expect("a well-formed table");
    assert_eq!(table.len(), rows);

    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let peak = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).expect("Linux tells the peak");
    let peak: f64 =
        peak.trim().trim_end_matches("kB").trim().parse::<f64>().expect("a number") * 1024.0;
    let promise = 1.2 * table.bytes() as f64 + 50e6;
    assert!(peak <= promise, "peak {:.0} MB, promised {:.0} MB", peak / 1e6, promise / 1e6);
    assert!(peak >= table.bytes() as f64, "the measurement itself must see the table");
}
