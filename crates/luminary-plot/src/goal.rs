//! Which objectives are better. Inside, figures maximise; only their numbers are the user's.

use std::borrow::Cow;

use crate::archive::Archive;
use crate::scale::{self, Range, Tick};

/// Whether higher or lower objectives are better. Better ones are brighter, further up, and drawn over worse ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    /// Higher objectives are better.
    #[default]
    Maximise,
    /// Lower objectives are better.
    Minimise,
}

impl Goal {
    /// An objective with the sign by which higher is better, or back: the same change of sign.
    pub(crate) fn turn(self, objective: f64) -> f64 {
        match self {
            Self::Maximise => objective,
            Self::Minimise => -objective,
        }
    }

    /// Objectives by which higher is better.
    pub(crate) fn turned(self, objectives: &[f64]) -> Cow<'_, [f64]> {
        match self {
            Self::Maximise => Cow::Borrowed(objectives),
            Self::Minimise => objectives.iter().map(|&objective| -objective).collect(),
        }
    }

    /// An archive by whose objectives higher is better.
    pub(crate) fn turned_archive(self, archive: &Archive) -> Cow<'_, Archive> {
        match self {
            Self::Maximise => Cow::Borrowed(archive),
            Self::Minimise => {
                Cow::Owned(Archive { objectives: self.turned(&archive.objectives).into_owned(), ..archive.clone() })
            }
        }
    }

    /// Ticks for a range of turned objectives, with the user's numbers beside them.
    pub(crate) fn ticks(self, range: Range, target: usize) -> Vec<Tick> {
        match self {
            Self::Maximise => scale::ticks(range, target),
            Self::Minimise => {
                let mut ticks = scale::ticks(Range::new(-range.upper, -range.lower), target);
                ticks.iter_mut().for_each(|tick| tick.value = -tick.value);
                ticks.reverse();
                ticks
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_of_what_is_minimised_have_the_users_numbers_and_rise_towards_the_best() {
        let ticks = Goal::Minimise.ticks(Range::new(-10.0, 0.0), 3);
        let shown: Vec<_> = ticks.iter().map(|tick| (tick.value, tick.label.as_str())).collect();
        assert_eq!(shown, [(-10.0, "10"), (-5.0, "5"), (0.0, "0")]);
    }
}
