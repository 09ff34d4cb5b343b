//! What groups of runs are called: only what differs between them. One difference becomes the lines of a plot, the others
//! become plots beside each other.

use super::data::Group;

/// The setting that becomes lines if it differs; its values need no name beside them.
const ALGORITHM: &str = "preset";

/// One plot: the groups that differ in one setting.
pub(crate) struct Facet<'a> {
    /// What tells it from the other plots; empty if there is one.
    pub(crate) title: String,
    /// The groups, each with its name in the legend.
    pub(crate) series: Vec<(String, &'a Group)>,
}

/// Shares groups out over plots, in their order.
pub(crate) fn facets(groups: &[Group]) -> Vec<Facet<'_>> {
    let keys = differing(groups);
    let line_key = keys.iter().find(|key| *key == ALGORITHM).or(keys.first());
    let plot_keys: Vec<&String> = keys.iter().filter(|key| Some(*key) != line_key).collect();
    let line_keys: Vec<&String> = line_key.into_iter().collect();
    let mut facets: Vec<Facet> = Vec::new();
    for group in groups {
        let title = named(group, &plot_keys);
        let series = (named(group, &line_keys), group);
        match facets.iter_mut().find(|facet| facet.title == title) {
            Some(facet) => facet.series.push(series),
            None => facets.push(Facet { title, series: vec![series] }),
        }
    }
    facets
}

/// The name of each group among all of them.
pub(crate) fn names(groups: &[Group]) -> Vec<String> {
    let keys = differing(groups);
    groups.iter().map(|group| named(group, &keys.iter().collect::<Vec<_>>())).collect()
}

/// Settings that do not have the same value in all groups, in the order of appearance.
fn differing(groups: &[Group]) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for (key, _) in groups.iter().flat_map(|group| &group.settings) {
        let mut values: Vec<Option<&str>> = groups.iter().map(|group| value(group, key)).collect();
        values.dedup();
        if values.len() > 1 && !keys.contains(key) {
            keys.push(key.clone());
        }
    }
    keys
}

fn value<'a>(group: &'a Group, key: &str) -> Option<&'a str> {
    group.settings.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
}

/// The values of some settings: alone where they speak for themselves, otherwise with the name of the setting.
fn named(group: &Group, keys: &[&String]) -> String {
    let part = |key: &&String| {
        let value = value(group, key)?;
        let speaks = [ALGORITHM, "problem", "folder"].contains(&key.as_str());
        Some(if speaks { value.to_owned() } else { format!("{key} = {value}") })
    };
    keys.iter().filter_map(part).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(settings: &[(&str, &str)]) -> Group {
        let settings = settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Group { settings, runs: Vec::new() }
    }

    #[test]
    fn algorithms_are_lines_and_other_settings_are_plots() {
        let of = |preset, sigma| group(&[("preset", preset), ("problem", "arm"), ("sigma", sigma)]);
        let groups = [of("cma_me", "0.1"), of("cma_mae", "0.1"), of("cma_me", "0.5"), of("cma_mae", "0.5")];
        let found: Vec<_> = facets(&groups).into_iter().map(|facet| (facet.title, facet.series[1].0.clone())).collect();
        assert_eq!(found, [("sigma = 0.1".to_owned(), "cma_mae".to_owned()), ("sigma = 0.5".into(), "cma_mae".into())]);
        assert_eq!(names(&groups)[2], "cma_me, sigma = 0.5");
    }

    #[test]
    fn what_is_the_same_everywhere_is_not_said() {
        let groups = [group(&[("preset", "cma_me"), ("sigma", "1")]), group(&[("preset", "cma_me"), ("sigma", "2")])];
        assert_eq!(names(&groups), ["sigma = 1", "sigma = 2"]);
        assert_eq!(facets(&groups).len(), 1, "one difference is one plot");
        assert_eq!(names(&groups[..1]), [""]);
    }
}
