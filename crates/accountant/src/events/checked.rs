//! The one door through which a mechanism's parameters come in, from code or from JSON.

use super::EventError;

/// Defines a struct with private fields, getters, a checking constructor and a `Deserialize` that
/// goes through it.
macro_rules! checked {
    ($(#[$meta:meta])* pub struct $name:ident = $kind:literal {
        $($(#[$field_meta:meta])* $field:ident: $type:ty,)*
    } check($raw:ident) $check:block) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(try_from = "Raw")]
        pub struct $name {
            $($field: $type,)*
        }

        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Raw {
            $($field: $type,)*
        }

        impl TryFrom<Raw> for $name {
            type Error = $crate::events::EventError;
            fn try_from($raw: Raw) -> Result<Self, Self::Error> {
                $check
                Ok(Self { $($field: $raw.$field,)* })
            }
        }

        impl $name {
            const KIND: &'static str = $kind;

            /// Checks the parameters.
            ///
            /// # Errors
            /// Says which parameter is out of range, and what is allowed.
            pub fn new($($field: $type),*) -> Result<Self, $crate::events::EventError> {
                Self::try_from(Raw { $($field),* })
            }

            $($(#[$field_meta])*
            #[must_use]
            pub fn $field(&self) -> $type {
                self.$field
            })*
        }
    };
}
pub(crate) use checked;

pub(crate) fn out_of_range(
    event: &'static str,
    field: &'static str,
    given: impl ToString,
    allowed: &'static str,
) -> EventError {
    EventError::OutOfRange { event, field, given: given.to_string(), allowed }
}

pub(crate) fn positive(
    event: &'static str,
    field: &'static str,
    value: f64,
) -> Result<(), EventError> {
    if value > 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(out_of_range(event, field, value, "a finite number greater than 0"))
    }
}

pub(crate) fn not_negative(
    event: &'static str,
    field: &'static str,
    value: f64,
) -> Result<(), EventError> {
    if value >= 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(out_of_range(event, field, value, "a finite number, 0 or greater"))
    }
}
