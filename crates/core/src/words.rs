//! Words that users type, and how a wrong one is refused.

use std::str::FromStr;

/// A parameter with a value that is not allowed. Every crate refuses a value with this one type;
/// a front-end turns the name into its own words (a flag, a keyword).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} = {given}: {allowed}")]
pub struct Refused {
    /// The parameter.
    pub name: &'static str,
    /// What was given.
    pub given: String,
    /// What is allowed, and what to do.
    pub allowed: String,
}

impl Refused {
    /// A parameter that cannot have the value given.
    pub fn new(name: &'static str, given: impl ToString, allowed: impl Into<String>) -> Self {
        Refused { name, given: given.to_string(), allowed: allowed.into() }
    }

    /// The value of a parameter as it was typed.
    ///
    /// # Errors
    /// A text that is no such value, with what is allowed.
    pub fn read<T: Typed>(name: &'static str, text: &str) -> Result<T, Refused> {
        T::typed(text).ok_or_else(|| Refused::new(name, text, T::allowed()))
    }
}

/// A value that can be typed.
pub trait Typed: FromStr {
    /// What may be typed, in words.
    fn allowed() -> String;

    /// The value that a text stands for.
    fn typed(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

impl Typed for u64 {
    fn allowed() -> String {
        "a whole number of at least 1 is needed".to_owned()
    }
}

impl Typed for f64 {
    fn allowed() -> String {
        "a number is needed".to_owned()
    }

    fn typed(text: &str) -> Option<Self> {
        text.parse().ok().filter(|number: &f64| number.is_finite())
    }
}

impl Typed for bool {
    fn allowed() -> String {
        "true or false is needed".to_owned()
    }
}

/// Declares a `Copy` enum whose members have one text everywhere: `Display`, `FromStr`,
/// serialisation and the message about a text that is none of them are made from one list.
///
/// A member is `Name = "word"`, or `Name(n: f64 where n > 0.0) = "word" ":N with N > 0"` for one
/// that carries a number behind a colon; what stands behind the word is for the message. Where no
/// member carries a number there are also `ALL` and `name`. With `bare "word"` a number alone
/// stands for `word:number`.
///
/// # Examples
/// ```
/// reticent_core::words! {
///     /// Which records are looked at.
///     pub enum Records = "records" {
///         /// All of them.
///         All = "all",
///         /// The first so many.
///         First(count: u64 where count >= 1) = "first" ":N with N ≥ 1",
///     }
/// }
/// assert_eq!("first:3".parse(), Ok(Records::First(3)));
/// assert_eq!(Records::First(3).to_string(), "first:3");
/// let refused = "some".parse::<Records>().unwrap_err();
/// assert_eq!(refused.to_string(), "records = some: use all, first:N with N ≥ 1");
/// ```
#[macro_export]
macro_rules! words {
    (@read $text:expr, $number:expr, $made:expr, $word:literal) => {
        if $text == $word && $number.is_none() {
            return Ok($made);
        }
    };
    (@read $text:expr, $number:expr, $made:expr, $word:literal, $value:ident $type:ty, $fits:expr) => {
        if $text == $word
            && let Some(Ok($value)) = $number.map(str::parse::<$type>)
            && $fits
        {
            return Ok($made);
        }
    };
    (@show $f:expr, $word:literal) => { $f.pad($word) };
    (@show $f:expr, $word:literal, $value:expr) => { write!($f, "{}:{}", $word, $value) };
    (@enum $(#[$meta:meta])* $vis:vis $name:ident $what:literal $bare:tt {
        $($(#[$of:meta])* $member:ident $(($value:ident: $type:ty where $fits:expr))?
            = $word:literal $($form:literal)?,)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        $vis enum $name {
            $($(#[$of])* $member $(($type))?,)*
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $($name::$member $(($value))? => $crate::words!(@show f, $word $(, $value)?),)*
                }
            }
        }

        impl $crate::Typed for $name {
            fn allowed() -> String {
                format!("use {}", [$(concat!($word $(, $form)?)),*].join(", "))
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::Refused;

            fn from_str(text: &str) -> Result<Self, $crate::Refused> {
                let (word, number) = match text.split_once(':') {
                    Some((word, number)) => (word, Some(number)),
                    None => (text, None),
                };
                $($crate::words!(
                    @read word, number, $name::$member $(($value))?, $word
                    $(, $value $type, $fits)?
                );)*
                let bare: Option<&str> = $bare;
                if let (Some(bare), None, Ok(_)) = (bare, number, text.parse::<f64>()) {
                    return format!("{bare}:{text}")
                        .parse()
                        .map_err(|refused| $crate::Refused { given: text.to_owned(), ..refused });
                }
                Err($crate::Refused::new($what, text, <$name as $crate::Typed>::allowed()))
            }
        }

        impl $crate::serde::Serialize for $name {
            fn serialize<S: $crate::serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text = <String as $crate::serde::Deserialize>::deserialize(from)?;
                text.parse().map_err(|refused: $crate::Refused| {
                    $crate::serde::de::Error::custom(refused.allowed)
                })
            }
        }
    };
    ($(#[$meta:meta])* $vis:vis enum $name:ident = $what:literal {
        $($(#[$of:meta])* $member:ident = $word:literal $($form:literal)?,)*
    }) => {
        $crate::words! { @enum $(#[$meta])* $vis $name $what None {
            $($(#[$of])* $member = $word $($form)?,)*
        } }

        impl $name {
            /// All the members, in the order in which they are documented.
            pub const ALL: &'static [$name] = &[$($name::$member),*];

            /// The text that stands for it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $($name::$member => $word,)* }
            }
        }
    };
    ($(#[$meta:meta])* $vis:vis enum $name:ident = $what:literal $(, bare $bare:literal)? { $($body:tt)* }) => {
        $crate::words! { @enum $(#[$meta])* $vis $name $what ($crate::words!(@bare $($bare)?)) { $($body)* } }
    };
    (@bare) => { None };
    (@bare $bare:literal) => { Some($bare) };
}

#[cfg(test)]
mod tests {
    use crate::Refused;

    crate::words! {
        /// A word for each kind of member.
        #[derive(Default)]
        enum Pace = "pace", bare "every" {
            #[default]
            Never = "never",
            Every(steps: f64 where steps > 0.0 && steps.is_finite()) = "every" ":N with N > 0",
            First(steps: u64 where steps >= 1) = "first" ":N with N ≥ 1",
        }
    }

    #[test]
    fn texts_round_trip_also_through_a_file() {
        for (text, pace) in
            [("never", Pace::Never), ("every:0.5", Pace::Every(0.5)), ("first:3", Pace::First(3))]
        {
            assert_eq!(text.parse(), Ok(pace));
            assert_eq!(pace.to_string(), text);
            assert_eq!(serde_json::to_string(&pace).unwrap(), format!("\"{text}\""));
            assert_eq!(serde_json::from_str::<Pace>(&format!("\"{text}\"")).unwrap(), pace);
        }
        assert_eq!("2.5".parse(), Ok(Pace::Every(2.5)), "a number alone");
        assert_eq!(Pace::default(), Pace::Never);
    }

    #[test]
    fn what_is_no_member_is_refused_with_what_is_allowed() {
        let allowed = "use never, every:N with N > 0, first:N with N ≥ 1";
        for text in [
            "",
            "ever",
            "never:1",
            "every",
            "every:",
            "every:0",
            "every:NaN",
            "every:inf",
            "-1",
            "first:0",
        ] {
            let refused = text.parse::<Pace>().unwrap_err();
            assert_eq!((refused.name, refused.allowed.as_str()), ("pace", allowed), "{text}");
        }
        let error = serde_json::from_str::<Pace>("\"x\"").unwrap_err().to_string();
        assert!(error.contains(allowed), "{error}");
    }

    #[test]
    fn numbers_are_finite_and_say_what_they_are() {
        assert_eq!(Refused::read::<f64>("clip", ".5"), Ok(0.5));
        assert_eq!(Refused::read::<bool>("shrink", "true"), Ok(true));
        for text in ["inf", "nan", "1e999", "x"] {
            let refused = Refused::read::<f64>("clip", text).unwrap_err();
            assert_eq!(refused.to_string(), format!("clip = {text}: a number is needed"));
        }
        let refused = Refused::read::<u64>("outer", "-1").unwrap_err();
        assert_eq!(refused.allowed, "a whole number of at least 1 is needed");
    }
}
