//! The colour of every method, the same in all pictures.
//!
//! A variant has the colour of its method and another dash: `DP-ADMM, δ = 1e-3`, `Algorithm 2 as
//! printed`. Curves that differ in a parameter alone (`ν = 2`), and more than two of one method
//! (`R-ADMM, γ = 2`), have colours that no method of the picture has, in order.

/// The colours of methods, as places in those of the plot crate. Each is there once.
const METHODS: &[(&str, usize)] = &[
    ("VRADMM", 0),
    ("SADMM", 1),
    ("ssADMM", 2),
    ("mpADMM", 3),
    ("DP-SGD", 4),
    ("DP-ADMM", 5),
    ("ADMM-objP", 6),
    ("Algorithm 2", 7),
    ("Algorithm 1", 8),
    ("private ADMM", 9),
    ("R-ADMM", 10),
    ("DVP", 11),
    ("M-ADMM", 12),
    ("growing", 13),
    ("ADMM", 14),
];

/// The first of the colours for what is no method, and how many they are.
const OTHERS: (usize, usize) = (15, 5);

/// What is no method: accountants and views, in order of what they ask for.
const KINDS: &[(&str, usize)] = &[
    ("PLD", 0),
    ("exact", 0),
    ("Rényi", 1),
    ("moments", 2),
    ("central", 0),
    ("masked", 1),
    ("network", 2),
    ("local", 3),
    ("small divergences", 1),
];

/// The method that a curve is of: its name without what comes after a comma or in brackets.
fn method(name: &str) -> &str {
    let name = name.split(", ").next().unwrap_or(name);
    let name = name.split(" (").next().unwrap_or(name);
    name.strip_suffix(" as printed").unwrap_or(name)
}

/// The colours of the curves of a picture; nothing for a name that the table lacks.
pub(crate) fn hues<'n>(names: impl Iterator<Item = &'n str>) -> Vec<Option<usize>> {
    let (first, count) = OTHERS;
    let names: Vec<&str> = names.collect();
    let of = |table: &[(&str, usize)], name: &str| {
        table.iter().find(|(known, _)| *known == method(name)).map(|(_, hue)| *hue)
    };
    let differs = |name: &str| {
        let alike = names.iter().filter(|other| method(other) == method(name)).count();
        method(name).contains(" = ") || (alike > 2 && name.contains(" = "))
    };
    let taken: Vec<usize> =
        names.iter().filter(|name| !differs(name)).filter_map(|name| of(METHODS, name)).collect();
    let free = (0..first).filter(|hue| !taken.contains(hue));
    let mut parameters = (first..first + count).chain(free).cycle();
    let hue = |name: &&str| match of(METHODS, name) {
        _ if differs(name) => parameters.next(),
        Some(hue) => Some(hue),
        None => of(KINDS, name).map(|hue| first + hue % count),
    };
    names.iter().map(hue).collect()
}

#[cfg(test)]
mod tests {
    use reticent_plot::HUES;

    use super::*;

    fn of(name: &str) -> Option<usize> {
        hues(std::iter::once(name))[0]
    }

    #[test]
    fn every_method_has_a_colour_that_no_other_has() {
        for (k, (name, hue)) in METHODS.iter().enumerate() {
            assert!(*hue < OTHERS.0, "{name}");
            assert!(METHODS[k + 1..].iter().all(|other| other.0 != *name && other.1 != *hue));
        }
        assert!(OTHERS.0 + OTHERS.1 <= HUES);
    }

    #[test]
    fn a_variant_has_the_colour_of_its_method() {
        assert_eq!(of("DP-ADMM, δ = 1e-3"), of("DP-ADMM"));
        assert_eq!(of("Algorithm 2 as printed"), of("Algorithm 2"));
        assert_eq!(of("ssADMM (certified)"), of("ssADMM"));
        assert_ne!(of("SADMM"), of("ssADMM"));
        assert_eq!(of("another method"), None);
    }

    #[test]
    fn parameters_have_colours_that_no_method_has() {
        let found = hues(["ν = 0", "ν = 2", "DP-SGD", "ν = 3"].into_iter());
        assert_eq!(found, [Some(15), Some(16), Some(4), Some(17)]);
        let seven = hues(["ε", "VRADMM"].into_iter().chain(["a = 1"; 7]));
        let colours: std::collections::BTreeSet<_> = seven[1..].iter().collect();
        assert_eq!(colours.len(), 8, "{seven:?}");
        let three = hues(["ADMM", "R-ADMM, γ = 1", "R-ADMM, γ = 2", "R-ADMM, γ = 3"].into_iter());
        assert_eq!(three, [Some(14), Some(15), Some(16), Some(17)]);
    }
}
