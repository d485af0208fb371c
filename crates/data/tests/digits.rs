//! Plain digits take a short way into a row: it is the row of the long one, to the bit.
// The lint spares test functions but not the helpers beside them.
#![allow(clippy::unwrap_used)]

use reticent_data::{Cell, EncodedRow, Encoder, Purpose, Schema, parse_csv};

/// Plain digits, what looks like them, and what is missing under one of the schemas.
const FIELDS: [&str; 26] = [
    "0",
    "-0",
    "5",
    "7",
    "500",
    "999",
    "-9",
    "007",
    "1000",
    "1001",
    "-3",
    "12.5",
    "0.125",
    "5.",
    ".5",
    "+5",
    " 5",
    "5 ",
    "1,5",
    "1e2",
    "",
    "NA",
    "x",
    "999999999999999",
    "9999999999999999",
    "-99999999999999.5",
];

/// A schema of two columns, the first with these keys, and keys of its own.
fn schema(own: &str, column: &str) -> Schema {
    let number =
        |name| format!("[[column]]\nname = '{name}'\nkind = 'numeric'\nlower = 0\nupper = 1000\n");
    format!("{own}\n{}{column}\n{}", number("a"), number("b")).parse().unwrap()
}

fn by_cells(schema: &Schema, fields: [&str; 2]) -> Option<Vec<u64>> {
    let mut encoder = Encoder::new(schema, Purpose::Predict);
    let mut row = EncodedRow::default();
    for (slot, field) in fields.iter().enumerate() {
        encoder.put(slot, Cell::Text(field.as_bytes()), &mut row).ok()?;
    }
    encoder.finish(&mut row);
    let mut dense = vec![0.0_f64; schema.width()];
    row.indices.iter().zip(&row.values).for_each(|(&j, &value)| dense[j as usize] = value);
    Some(dense.into_iter().map(f64::to_bits).collect())
}

fn by_text(schema: &Schema, [a, b]: [&str; 2]) -> Option<Vec<u64>> {
    let text = format!("a;b\n{a};{b}\n");
    let table = parse_csv(text.as_bytes(), "t", schema, b';', Purpose::Predict).ok()?;
    assert_eq!(table.len(), 1);
    Some(table.rows.dense_row(0).into_iter().map(f64::to_bits).collect())
}

#[test]
fn plain_digits_are_encoded_as_every_other_field() {
    let own = [
        "row_norm = 100",
        "row_norm = 0.5",
        "row_norm = 1\nmissing_tokens = ['', '999', '-9']",
        "row_norm = 1\nmissing_tokens = ['NA', '500']",
        "row_norm = 1\ndecimal = ','",
        "row_norm = 1\ntrim = false",
        "row_norm = 1\npairs = [['a', 'b']]",
    ];
    let columns = ["", "scale = 'log'", "scale = 'none'", "curve = 3", "missing = 'upper'"];
    let (mut read, mut refused) = (0, 0);
    for (own, column) in own.iter().flat_map(|own| columns.map(|column| (*own, column))) {
        let schema = schema(own, column);
        for (a, b) in FIELDS.iter().flat_map(|a| FIELDS.map(|b| (*a, b))) {
            let found = by_text(&schema, [a, b]);
            assert_eq!(
                found,
                by_cells(&schema, [a, b]),
                "{a:?} and {b:?} under {own:?}, {column:?}"
            );
            *(if found.is_some() { &mut read } else { &mut refused }) += 1;
        }
    }
    assert!(read > 5000 && refused > 5000, "{read}, {refused}");
}
