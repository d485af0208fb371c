//! A .zip archive, as other programs write it.

use std::io::Write;

/// An archive with these members, packed or as they are.
pub fn zip(members: &[(&str, &str)], packed: bool) -> Vec<u8> {
    let (mut out, mut list) = (Vec::new(), Vec::new());
    for (name, text) in members {
        let mut sum = flate2::Crc::new();
        sum.update(text.as_bytes());
        let mut body = text.as_bytes().to_vec();
        if packed {
            let mut deflate =
                flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
            deflate.write_all(text.as_bytes()).unwrap();
            body = deflate.finish().unwrap();
        }
        let method: u16 = if packed { 8 } else { 0 };
        let mut common = vec![20, 0, 0, 0];
        common.extend(method.to_le_bytes());
        common.extend([0; 4]);
        common.extend(sum.sum().to_le_bytes());
        common.extend((body.len() as u32).to_le_bytes());
        common.extend((text.len() as u32).to_le_bytes());
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0; 2]);
        list.extend(b"PK\x01\x02\x14\x00");
        list.extend(&common);
        list.extend([0; 10]);
        list.extend((out.len() as u32).to_le_bytes());
        list.extend(name.as_bytes());
        out.extend(b"PK\x03\x04");
        out.extend(&common);
        out.extend(name.as_bytes());
        out.extend(body);
    }
    let (at, n) = (out.len() as u32, members.len() as u16);
    out.extend(&list);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend(n.to_le_bytes());
    out.extend(n.to_le_bytes());
    out.extend((list.len() as u32).to_le_bytes());
    out.extend(at.to_le_bytes());
    out.extend([0; 2]);
    out
}
