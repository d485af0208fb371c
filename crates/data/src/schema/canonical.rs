//! A schema as bytes, for digests: equal for equal schemas, whatever program of this version wrote them.

use super::Schema;

impl Schema {
    /// All of the schema: as a file has it, and what a file leaves out, which is what a question and a run
    /// add to it.
    pub fn canonical_bytes(&self) -> Vec<u8> {
        // By name, so that a new field is put here too, or is said to be in the file.
        let Schema {
            row_norm: _,
            public_n: _,
            header: _,
            delimiter: _,
            trim: _,
            decimal_comma: _,
            missing_tokens: _,
            undeclared: _,
            features: _,
            columns: _,
            pairs: _,
            drafted: _,
            asked_of,
            telling,
            parties_from,
        } = self;
        let mut bytes = Vec::new();
        let put = |text: &str, bytes: &mut Vec<u8>| {
            bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
            bytes.extend_from_slice(text.as_bytes());
        };
        put(&self.to_toml(), &mut bytes);
        for list in
            [asked_of.as_deref(), Some(telling), parties_from.as_ref().map(std::slice::from_ref)]
        {
            let count = list.map_or(u64::MAX, |list| list.len() as u64);
            bytes.extend_from_slice(&count.to_le_bytes());
            list.into_iter().flatten().for_each(|text| put(text, &mut bytes));
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(text: &str) -> Schema {
        let column = "[[column]]\nname = 'x'\nkind = 'numeric'\nlower = 0\nupper = 1\n";
        let target = "[[column]]\nname = 'y'\nkind = 'target'\nclasses = [0, 1]\n";
        format!("{text}{column}{target}").parse().unwrap()
    }

    /// However a file says it, and nothing that a file leaves out is left out.
    #[test]
    fn equal_schemas_have_equal_bytes_and_others_have_others() {
        let plain = schema("row_norm = 1.0\n");
        assert_eq!(
            schema("trim = true\nrow_norm = 1\n").canonical_bytes(),
            plain.canonical_bytes()
        );
        let others = [
            schema("row_norm = 1.0000000000000002\n"),
            schema("row_norm = 1.0\ndecimal = ','\ndelimiter = ';'\n"),
            Schema { asked_of: Some(Vec::new()), ..plain.clone() },
            Schema { asked_of: Some(vec!["x".into()]), ..plain.clone() },
            Schema { telling: vec!["x".into()], ..plain.clone() },
            Schema { parties_from: Some("x".into()), ..plain.clone() },
        ];
        let mut met = vec![plain.canonical_bytes()];
        for other in others {
            assert!(!met.contains(&other.canonical_bytes()), "{other:?}");
            met.push(other.canonical_bytes());
        }
    }
}
