//! Colours and dashes of lines: an algorithm has the same ones in every figure, all others take what is left.

use crate::color::{OKABE_ITO, Rgb};

/// Patterns of lines; after all colours have been used they come again with the next one.
const DASHES: [&str; 4] = ["", "7 3", "2 3", "9 3 2 3"];

/// The algorithms by name, with positions in [`OKABE_ITO`] and [`DASHES`]. Relatives share a colour. What stands here is
/// never changed, so that figures of different days can be compared.
const ALGORITHMS: [(&str, usize, usize); 13] = [
    ("cma_mae", 0, 0),
    ("cma_me", 1, 0),
    ("cma_me_star", 1, 1),
    ("cma_me_imp_opt", 1, 2),
    ("map_elites", 2, 0),
    ("map_elites_line", 3, 0),
    ("cma_mega", 4, 0),
    ("cma_maega", 5, 0),
    ("cma_es", 6, 0),
    ("density_descent", 2, 1),
    ("auto", 0, 1),
    ("cma_maega_df", 5, 1),
    ("dms", 3, 1),
];

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ink {
    pub(crate) color: Rgb,
    /// Lengths of dashes and gaps; empty for a line without gaps.
    pub(crate) dash: &'static str,
    /// What points look like.
    pub(crate) marker: Marker,
}

/// The shape of a point; each pattern of lines has its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Marker {
    Disc,
    Ring,
    Square,
    Frame,
}

const MARKERS: [Marker; DASHES.len()] = [Marker::Disc, Marker::Ring, Marker::Square, Marker::Frame];

/// The ink of each name. Names must be different.
pub(crate) fn inks(names: &[&str]) -> Vec<Ink> {
    let known: Vec<Option<(usize, usize)>> = names.iter().map(|name| of_algorithm(name)).collect();
    let all = (0..DASHES.len()).flat_map(|dash| (0..OKABE_ITO.len()).map(move |color| (color, dash)));
    let free: Vec<(usize, usize)> = all.filter(|ink| !known.contains(&Some(*ink))).collect();
    let mut next = free.iter().cycle();
    let ink = |known: Option<(usize, usize)>| {
        let (color, dash) = known.or_else(|| next.next().copied()).unwrap_or((0, 0));
        Ink { color: OKABE_ITO[color], dash: DASHES[dash], marker: MARKERS[dash] }
    };
    known.into_iter().map(ink).collect()
}

/// Finds an algorithm however its name is written: `cma_me_star`, `CMA-ME*`.
fn of_algorithm(name: &str) -> Option<(usize, usize)> {
    let spelled = name.to_lowercase().replace('*', " star");
    let words: Vec<&str> = spelled.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let plain = words.join("_");
    ALGORITHMS.iter().find(|(name, ..)| *name == plain).map(|&(_, color, dash)| (color, dash))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distinct(inks: &[Ink]) -> usize {
        let n_distinct = |mut all: Vec<String>| {
            all.sort();
            all.dedup();
            all.len()
        };
        let lines = n_distinct(inks.iter().map(|ink| ink.color.hex() + ink.dash).collect());
        let points = n_distinct(inks.iter().map(|ink| format!("{} {:?}", ink.color.hex(), ink.marker)).collect());
        lines.min(points)
    }

    #[test]
    fn more_than_eight_lines_stay_distinct() {
        let names: Vec<String> = (0..24).map(|i| i.to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(distinct(&inks(&names)), 24);
    }

    #[test]
    fn an_algorithm_keeps_its_colour_in_any_company() {
        let alone = inks(&["CMA-MAE"])[0];
        assert_eq!(inks(&["mine", "other", "cma_mae"])[2], alone);
        assert_eq!(inks(&["CMA-ME*", "MAP-Elites (line)"]), inks(&["cma_me_star", "map_elites_line"]));
        let names: Vec<&str> = ALGORITHMS.iter().map(|(name, ..)| *name).chain(["mine", "other"]).collect();
        assert_eq!(distinct(&inks(&names)), names.len());
    }
}
