//! JSON in one form and no other, so that whoever hashes it hashes the same bytes: RFC 8785 (JCS).
//! Names are sorted, there is no space, strings have the fewest escapes, and a number is the
//! shortest decimal that reads back as the same double.
//!
//! What JCS says nothing about is refused: a name that stands twice in one object, which two readers
//! may read in two ways, and a whole number beyond 2⁵³, which a double does not hold.

use std::fmt;

use reticent_core::hex;
use serde::Serialize;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Number;
use sha2::{Digest as _, Sha256};

/// What a digest begins with: the name of its function.
const FUNCTION: &str = "sha256:";

/// The largest whole number below which doubles leave none out.
const EXACT: u64 = 1 << 53;

/// `sha256:` and the hash of the canonical bytes of `value`, in lower-case hexadecimal digits.
pub(crate) fn digest(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let bytes = serde_json_canonicalizer::to_vec(value)?;
    Ok(format!("{FUNCTION}{}", hex(&Sha256::digest(bytes))))
}

/// An object that every reader reads alike: its members in order, each with its canonical text. The
/// text is made as the object is read: a tree of a wide model would take ten times the memory.
#[derive(Clone, Debug)]
pub(crate) struct CanonicalObject(Vec<(String, Vec<u8>)>);

impl CanonicalObject {
    pub fn read(text: &str) -> Result<Self, serde_json::Error> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let object = reader.deserialize_map(ObjectReader)?;
        reader.end().map(|()| object)
    }

    /// The canonical text of a member.
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(own, _)| own == name);
        found.and_then(|(_, text)| std::str::from_utf8(text).ok())
    }

    /// The canonical text of all of it.
    pub fn text(&self) -> Result<String, serde_json::Error> {
        let mut text = Vec::new();
        object_text::<serde_json::Error>(&self.0, &mut text)?;
        String::from_utf8(text).map_err(de::Error::custom)
    }

    /// The digest of the object without these members.
    pub fn digest_without(&self, names: &[&str]) -> Result<String, serde_json::Error> {
        let mut hasher = Sha256::new();
        let mut before = "{";
        for (name, text) in self.0.iter().filter(|(name, _)| !names.contains(&name.as_str())) {
            hasher.update(before);
            hasher.update(serde_json_canonicalizer::to_vec(name)?);
            hasher.update(":");
            hasher.update(text);
            before = ",";
        }
        hasher.update(if before == "{" { "{}" } else { "}" });
        Ok(format!("{FUNCTION}{}", hex(&hasher.finalize())))
    }
}

/// The members of an object, in the order of RFC 8785, section 3.2.3; none stands twice.
fn members<'de, A: MapAccess<'de>>(mut items: A) -> Result<Vec<(String, Vec<u8>)>, A::Error> {
    let mut members: Vec<(String, Vec<u8>)> = Vec::new();
    while let Some(name) = items.next_key::<String>()? {
        let mut text = Vec::new();
        items.next_value_seed(CanonicalReader(&mut text))?;
        members.push((name, text));
    }
    members.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
    match members.windows(2).find(|two| two[0].0 == two[1].0) {
        Some(two) => Err(de::Error::custom(format!("the name `{}` stands twice", two[0].0))),
        None => Ok(members),
    }
}

fn object_text<E: de::Error>(members: &[(String, Vec<u8>)], out: &mut Vec<u8>) -> Result<(), E> {
    out.push(b'{');
    for (at, (name, text)) in members.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        CanonicalReader(out).put(name)?;
        out.push(b':');
        out.extend_from_slice(text);
    }
    out.push(b'}');
    Ok(())
}

struct ObjectReader;

impl<'de> Visitor<'de> for ObjectReader {
    type Value = CanonicalObject;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, items: A) -> Result<CanonicalObject, A::Error> {
        members(items).map(CanonicalObject)
    }
}

/// Appends the canonical text of what it reads; refuses a name that stands twice and a number that is
/// not held.
struct CanonicalReader<'a>(&'a mut Vec<u8>);

impl CanonicalReader<'_> {
    fn put<E: de::Error>(self, value: &impl Serialize) -> Result<(), E> {
        serde_json_canonicalizer::to_writer(value, self.0).map_err(E::custom)
    }

    fn whole<E: de::Error>(self, size: u64, number: &Number) -> Result<(), E> {
        if size > EXACT {
            return Err(E::custom(format!("the whole number {number} is beyond 2^53")));
        }
        self.put(number)
    }
}

impl<'de> DeserializeSeed<'de> for CanonicalReader<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for CanonicalReader<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        self.put(&())
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<(), E> {
        self.put(&value)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<(), E> {
        self.whole(value, &value.into())
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<(), E> {
        self.whole(value.unsigned_abs(), &value.into())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<(), E> {
        let number = Number::from_f64(value);
        self.put(&number.ok_or_else(|| E::custom("a number that is not finite"))?)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<(), E> {
        self.put(&text)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        self.0.push(b'[');
        let begun = self.0.len();
        loop {
            let before = self.0.len();
            if before > begun {
                self.0.push(b',');
            }
            if items.next_element_seed(CanonicalReader(self.0))?.is_none() {
                self.0.truncate(before);
                self.0.push(b']');
                return Ok(());
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, items: A) -> Result<(), A::Error> {
        object_text(&members(items)?, self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// The canonical text of any JSON.
    fn canonical(text: &str) -> Result<String, serde_json::Error> {
        let object = CanonicalObject::read(&format!(r#"{{"it": {text}}}"#))?;
        Ok(object.get("it").unwrap().to_owned())
    }

    #[test]
    fn what_two_readers_may_read_in_two_ways_is_refused() {
        for text in [
            r#"{"a": 1, "a": 2}"#,
            r#"[{"b": {"a": 1, "\u0061": 2}}]"#,
            "9007199254740993",
            "-9007199254740993",
            "1, \"it\": 2",
        ] {
            assert!(canonical(text).is_err(), "{text}");
        }
        for text in ["1", "[]", "{} {}", "{\"a\": 1", ""] {
            assert!(CanonicalObject::read(text).is_err(), "{text}");
        }
    }

    /// The example of RFC 8785, section 3.2.2 to 3.2.4, and names in the order of UTF-16.
    #[test]
    fn the_form_is_that_of_the_standard() {
        let text = r#"{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
            "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}"#;
        let standard = concat!(
            r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"#,
            r#""string":"€$\u000f\nA'B\"\\\\\"/"}"#
        );
        assert_eq!(canonical(text).unwrap(), standard);
    }

    /// A tree of the same text, written by the library, is the same.
    #[test]
    fn the_text_is_that_of_a_tree() {
        for text in [
            r#"{"\ufb33": 1, "\ud83d\ude00": 2, "\r": [], "1": {}, "\u0080": -0.0, "ö": 1e21, "€": [[1], [], [{}, {"b": null, "a": 0}]]}"#,
            r#"[1, -2, 0.5, 1.0, 9007199254740992, 5e-324, 1.7976931348623157e308, true, null, "x\u0000"]"#,
            r#""""#,
        ] {
            let tree: Value = serde_json::from_str(text).unwrap();
            let written = serde_json_canonicalizer::to_string(&tree).unwrap();
            assert_eq!(canonical(text).unwrap(), written);
        }
        let object =
            r#"{"b": [1, {"d": 2, "c": "é"}], "a": 0.1, "left out": [], "certificate": {}}"#;
        let mut tree: Value = serde_json::from_str(object).unwrap();
        let read = CanonicalObject::read(object).unwrap();
        assert_eq!(read.digest_without(&[]).unwrap(), digest(&tree).unwrap());
        let fields = tree.as_object_mut().unwrap();
        fields.remove("left out");
        fields.remove("certificate");
        let without = read.digest_without(&["certificate", "left out"]).unwrap();
        assert_eq!(without, digest(&tree).unwrap());
        let none = CanonicalObject::read("{}").unwrap().digest_without(&[]).unwrap();
        assert_eq!(none, digest(&serde_json::json!({})).unwrap());
    }

    #[test]
    fn how_a_file_is_laid_out_does_not_matter_and_what_it_says_does() {
        let of = |text: &str| CanonicalObject::read(text).unwrap().digest_without(&[]).unwrap();
        assert_eq!(of(r#"{"b":1.0,"a":1e-6}"#), of("{\"a\": 0.000001,\n \"b\": 1}"));
        assert_ne!(of(r#"{"a":1}"#), of(r#"{"a":1.0000000000000002}"#));
        assert_ne!(of(r#"{"a":1}"#), of(r#"{"a":"1"}"#));
        assert!(of("{}").starts_with("sha256:") && of("{}").len() == 7 + 64);
    }
}
