//! What a file holds arrives, all of it and in every format alike, or the file is refused with its
//! line.
// The lint spares test functions but not the helpers beside them.
#![allow(clippy::unwrap_used)]

use reticent_data::{Purpose, Schema, Table, parse_csv};

const SCHEMA: &str = schema!(10;
    age "name = 'smoker'\nkind = 'categorical'\ncategories = ['false', 'true']" note ill
);

fn read(text: &[u8]) -> Result<Table, String> {
    let schema: Schema = SCHEMA.parse().unwrap();
    parse_csv(text, "f.csv", &schema, b',', Purpose::Fit).map_err(|e| e.to_string())
}

/// A thousand records and one; the eleventh opens a quote.
fn unclosed(quote: &str, at_end: bool) -> String {
    let mut text = String::from("age,smoker,ill,note\n");
    for i in 0..1_001 {
        let quote = if i == 10 { quote } else { "" };
        if at_end {
            text += &format!("{},true,no,{quote}fine\n", i % 90);
        } else {
            text += &format!("{quote}{},true,no,fine\n", i % 90);
        }
    }
    text
}

#[test]
fn an_unclosed_quote_swallows_nothing() {
    assert_eq!(read(unclosed("", true).as_bytes()).unwrap().len(), 1_001);
    for at_end in [true, false] {
        assert_eq!(
            read(unclosed("\"", at_end).as_bytes()).unwrap_err(),
            "f.csv:12: a quoted field is not closed before the end of the file"
        );
    }
}

#[test]
fn a_quote_that_closes_in_another_record_swallows_nothing() {
    let text = "age,smoker,ill,note\n1,true,no,\"a\n2,true,no,\"b\"\n3,true,no,c\n";
    assert_eq!(
        read(text.as_bytes()).unwrap_err(),
        "f.csv:2: a quoted field goes on behind its closing quote"
    );
}

#[test]
fn truth_values_are_truth_values_however_they_are_spelled() {
    let of = |word: &str| {
        let text = format!("age,smoker,ill,note\n1,{word},no,\n");
        read(text.as_bytes()).unwrap().rows.dense_row(0)[1..].to_vec()
    };
    for word in ["true", "True", "TRUE"] {
        assert_eq!(of(word), [0.0, 1.0], "{word}");
    }
    for word in ["false", "False", "FALSE"] {
        assert_eq!(of(word), [1.0, 0.0], "{word}");
    }
}

#[test]
fn text_that_is_not_utf8_is_refused() {
    let text = b"age,smoker,ill,note\n1,true,no,fine\n2,true,no,caf\xe9\n";
    assert_eq!(read(text).unwrap_err(), "f.csv:3: the text is not UTF-8");
    // Two fields that are UTF-8 only when they are put together.
    let text = b"age,smoker,ill,note\n2,\xc3,\xa9,fine\n";
    assert_eq!(read(text).unwrap_err(), "f.csv:2: the text is not UTF-8");
}

/// They are in no list of categories, and would have become none of them without a word.
#[test]
fn zero_bytes_are_refused() {
    let said = |text: &[u8]| read(text).unwrap_err();
    let expected = "f.csv:3: the record has zero bytes, which no text has";
    assert_eq!(said(b"age,smoker,ill,note\n1,true,no,\n2,tr\0e,no,\n"), expected);
    assert_eq!(said(b"age,smoker,ill,note\n1,true,no,\n2,true,no,\"\0\"\n"), expected);
}
