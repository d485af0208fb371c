//! One list of names per vocabulary word: serde, `Display` and `FromStr` all read it.

/// Defines a `Copy` enum whose variants have one kebab-case name everywhere; the first variant is
/// the default.
macro_rules! named {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $(#[$first_meta:meta])* $first:ident = $first_text:literal,
        $($(#[$variant_meta:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, serde::Serialize, serde::Deserialize)]
        $vis enum $name {
            $(#[$first_meta])*
            #[default]
            #[serde(rename = $first_text)]
            $first,
            $($(#[$variant_meta])* #[serde(rename = $text)] $variant,)*
        }

        impl $name {
            /// All the members, in the order in which they are documented.
            pub const ALL: &'static [$name] = &[$name::$first, $($name::$variant,)*];

            /// The name in files and messages, in kebab case.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $name::$first => $first_text,
                    $($name::$variant => $text,)*
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::vocabulary::UnknownName;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $name::ALL.iter().copied().find(|member| member.name() == text).ok_or_else(|| {
                    let allowed = $name::ALL.iter().map(|m| m.name()).collect::<Vec<_>>().join(", ");
                    $crate::vocabulary::UnknownName { given: text.to_owned(), what: stringify!($name), allowed }
                })
            }
        }
    };
}
pub(crate) use named;
