//! A page, read as strictly as is needed to notice when somebody else wrote a part of it.

/// Elements that have no end.
const VOID: [&str; 4] = ["meta", "br", "input", "!doctype"];

/// The names of all tags, in order, ends with their slash.
pub fn tags(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        let tag = &rest[start + 1..];
        let end = tag.find('>').expect("a tag that ends");
        let name = tag[..end].split([' ', '/']).find(|word| !word.is_empty()).unwrap_or_default();
        let slash = if tag.starts_with('/') { "/" } else { "" };
        let own = if tag[..end].ends_with('/') { "/" } else { "" };
        found.push(format!("{slash}{}{own}", name.to_lowercase()));
        // What is in a style is no markup.
        rest = &tag[end + 1..];
        if name == "style" && slash.is_empty() {
            rest = &rest[rest.find("</style>").expect("a style that ends")..];
        }
    }
    found
}

/// What holds for every page.
pub fn checked(name: &str, page: &str) {
    assert!(page.starts_with("<!DOCTYPE html><html lang=\"en\">"), "{name}");
    balanced(name, page);
    headings(name, page);
    ids(name, page);
    for element in ["<script", "<link", "<iframe", "<object", "<embed", "<img", "<base", "NaN"] {
        assert!(!page.contains(element), "{name} has {element}");
    }
    let style = page.split("<style>").nth(1).and_then(|rest| rest.split("</style>").next());
    let style = style.expect("a style");
    assert!(
        !["url(", "@import", "://"].iter().any(|word| style.contains(word)),
        "{name}: its style"
    );
    let markup = page.replace(style, "");
    for tag in markup.split('<').skip(1).filter_map(|part| part.split('>').next()) {
        // Quoted values apart, nothing of a tag loads, runs or colours.
        let bare: String = tag.split('"').step_by(2).collect::<Vec<_>>().join(" ");
        for word in bare.split_whitespace().skip(1) {
            let loads = ["src", "style", "srcset", "data", "xlink", "background"];
            let attribute = word.trim_end_matches('=');
            let runs = attribute.starts_with("on");
            assert!(!runs && !loads.contains(&attribute), "{name}: {tag}");
        }
        for link in [" href=\"", " action=\""] {
            let to = tag.split(link).nth(1).and_then(|rest| rest.split('"').next()).unwrap_or("#");
            let stays = to.starts_with('#') || (to.starts_with('/') && !to.starts_with("//"));
            assert!(stays, "{name} leads to {to}");
        }
    }
    assert!(page.contains("http-equiv=\"Content-Security-Policy\""), "{name}");
    assert!(page.contains("<title>") && page.contains("<main"), "{name}");
}

fn balanced(name: &str, page: &str) {
    let mut open: Vec<String> = Vec::new();
    for tag in tags(page) {
        if let Some(end) = tag.strip_prefix('/') {
            let last = open.pop();
            assert_eq!(last.as_deref(), Some(end), "{name}: within {open:?}");
        } else if !tag.ends_with('/') && !VOID.contains(&tag.as_str()) {
            open.push(tag);
        }
    }
    assert!(open.is_empty(), "{name}: {open:?}");
}

/// One first heading, and none that leaves a level out.
fn headings(name: &str, page: &str) {
    let levels: Vec<u32> = tags(page)
        .iter()
        .filter_map(|tag| tag.strip_prefix('h').and_then(|level| level.parse().ok()))
        .collect();
    assert_eq!(levels.first(), Some(&1), "{name}");
    assert_eq!(levels.iter().filter(|level| **level == 1).count(), 1, "{name}");
    assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{name}: {levels:?}");
}

fn ids(name: &str, page: &str) {
    let ids: Vec<&str> =
        page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let unique: std::collections::BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len(), "{name}: an id twice");
    let used = ["aria-labelledby=\"", "href=\"#"];
    for rest in used.iter().flat_map(|word| page.split(word).skip(1)) {
        for id in rest.split('"').next().unwrap().split(' ') {
            assert!(unique.contains(id), "{name}: no {id}");
        }
    }
}
