//! JSON in one form and no other, so that whoever hashes it hashes the same bytes: RFC 8785 (JCS).
//! Names are sorted, there is no space, strings have the fewest escapes, and a number is the
//! shortest decimal that reads back as the same double.
//!
//! What JCS says nothing about is refused: a name that stands twice in one object, which two readers
//! may read in two ways, and a whole number beyond 2⁵³, which a double does not hold.

use std::fmt;

use reticent_core::hex;
use serde::Serialize;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
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

/// Reads JSON that every reader reads alike.
pub(crate) fn read(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str::<Unambiguous>(text).map(|read| read.0)
}

/// A value without a name that stands twice and without a number that is not held.
struct Unambiguous(Value);

impl<'de> Deserialize<'de> for Unambiguous {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader).map(Unambiguous)
    }
}

struct Reader;

impl Reader {
    fn whole<E: de::Error>(size: u64, number: Number) -> Result<Value, E> {
        if size > EXACT {
            return Err(E::custom(format!("the whole number {number} is beyond 2^53")));
        }
        Ok(Value::Number(number))
    }
}

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        Self::whole(value, value.into())
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        Self::whole(value.unsigned_abs(), value.into())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        let number = Number::from_f64(value);
        number.map(Value::Number).ok_or_else(|| E::custom("a number that is not finite"))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Value, E> {
        Ok(Value::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Unambiguous(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = items.next_key::<String>()? {
            if map.contains_key(&name) {
                return Err(de::Error::custom(format!("the name `{name}` stands twice")));
            }
            let Unambiguous(item) = items.next_value()?;
            map.insert(name, item);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_readers_may_read_in_two_ways_is_refused() {
        for text in [
            r#"{"a": 1, "a": 2}"#,
            r#"[{"b": {"a": 1, "\u0061": 2}}]"#,
            "9007199254740993",
            "-9007199254740993",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        let good = r#"{"a": [1, -2, 0.5, true, null, "x"], "b": {}}"#;
        assert_eq!(read(good).unwrap(), serde_json::from_str::<Value>(good).unwrap());
    }

    /// The example of RFC 8785, section 3.2.2 to 3.2.4.
    #[test]
    fn the_form_is_that_of_the_standard() {
        let text = r#"{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
            "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}"#;
        let canonical = serde_json_canonicalizer::to_string(&read(text).unwrap()).unwrap();
        let standard = concat!(
            r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"#,
            r#""string":"€$\u000f\nA'B\"\\\\\"/"}"#
        );
        assert_eq!(canonical, standard);
    }

    #[test]
    fn how_a_file_is_laid_out_does_not_matter_and_what_it_says_does() {
        let of = |text: &str| digest(&read(text).unwrap()).unwrap();
        assert_eq!(of(r#"{"b":1.0,"a":1e-6}"#), of("{\"a\": 0.000001,\n \"b\": 1}"));
        assert_ne!(of(r#"{"a":1}"#), of(r#"{"a":1.0000000000000002}"#));
        assert_ne!(of(r#"{"a":1}"#), of(r#"{"a":"1"}"#));
        assert!(of("1").starts_with("sha256:") && of("1").len() == 7 + 64);
    }
}
