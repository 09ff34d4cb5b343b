//! What values a setting takes: in words, as a range, and as a type of Python.

/// What values a setting takes.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Any text.
    Text,
    /// True or false.
    Flag,
    /// A whole number, from the first to the last.
    Integer(u64, u64),
    /// A number.
    Number(Range),
    /// One of these names; `-` and `_` are the same.
    Choice(fn() -> Vec<&'static str>),
    /// A table with settings of its own.
    Table {
        /// Its type in Python.
        python: &'static str,
    },
    /// Anything else.
    Other {
        /// What is expected.
        expected: &'static str,
        /// Its type in Python.
        python: &'static str,
    },
}

/// Which numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Range {
    /// Neither infinite nor NaN.
    Finite,
    /// Finite and above zero.
    Positive,
    /// Finite and not below zero.
    NotNegative,
    /// From the first to the last.
    Within(f64, f64),
}

impl Range {
    /// Whether the number is one of them.
    pub fn contains(self, value: f64) -> bool {
        match self {
            Self::Finite => value.is_finite(),
            Self::Positive => value.is_finite() && value > 0.0,
            Self::NotNegative => value.is_finite() && value >= 0.0,
            Self::Within(from, to) => (from..=to).contains(&value),
        }
    }

    /// The range in words.
    pub fn words(self) -> String {
        match self {
            Self::Finite => "a finite number".into(),
            Self::Positive => "a finite number > 0".into(),
            Self::NotNegative => "a finite number >= 0".into(),
            Self::Within(from, to) => format!("a number within [{from}, {to}]"),
        }
    }
}

/// A whole number without a limit of its own.
pub(super) const NO_LIMIT: u64 = u64::MAX;

impl Kind {
    /// What is expected, in words.
    pub fn words(self) -> String {
        match self {
            Self::Text => "a string".into(),
            Self::Flag => "true or false".into(),
            Self::Integer(from, NO_LIMIT) => format!("an integer >= {from}"),
            Self::Integer(from, to) => format!("an integer from {from} to {to}"),
            Self::Number(range) => range.words(),
            Self::Choice(names) => {
                let quoted: Vec<_> = names().iter().map(|name| format!("{name:?}")).collect();
                format!("one of {}", quoted.join(", "))
            }
            Self::Table { .. } => "a table".into(),
            Self::Other { expected, .. } => expected.into(),
        }
    }

    /// The type in Python.
    pub fn python(self) -> String {
        match self {
            Self::Text => "str".into(),
            Self::Flag => "bool".into(),
            Self::Integer(..) => "int".into(),
            Self::Number(_) => "float".into(),
            Self::Choice(names) => {
                let quoted: Vec<_> = names().iter().map(|name| format!("{name:?}")).collect();
                format!("Literal[{}]", quoted.join(", "))
            }
            Self::Table { python } | Self::Other { python, .. } => python.into(),
        }
    }
}
