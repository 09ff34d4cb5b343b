//! Where the emitters are in measure space. Nothing in the engine asks; whoever shows a run does.

use crate::archive::Status;

/// The mean measures of the rows that each emitter was told of last.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// `n_emitters x measure_dim`; not a number for an emitter that was told of no row with a value yet.
    means: Vec<f64>,
}

impl Places {
    /// Notes the rows that an emitter was told of. If none has a value, it is where it was.
    pub(super) fn note(&mut self, emitter: usize, n_emitters: usize, measures: &[f64], status: &[Status]) {
        // Archives of Python keep their measures to themselves.
        if measures.is_empty() {
            return;
        }
        let k = measures.len() / status.len().max(1);
        self.means.resize(n_emitters * k, f64::NAN);
        let n_values = status.iter().filter(|&&status| status != Status::Invalid).count();
        if n_values == 0 {
            return;
        }
        let mean = &mut self.means[emitter * k..][..k];
        mean.fill(0.0);
        for (row, _) in measures.chunks_exact(k).zip(status).filter(|(_, status)| **status != Status::Invalid) {
            mean.iter_mut().zip(row).for_each(|(sum, measure)| *sum += measure);
        }
        mean.iter_mut().for_each(|sum| *sum /= n_values as f64);
    }

    /// Where an emitter is, if it was told of a row with a value.
    pub(super) fn get(&self, emitter: usize, measure_dim: usize) -> Option<&[f64]> {
        let mean = self.means.get(emitter * measure_dim..)?.get(..measure_dim)?;
        mean.iter().all(|measure| measure.is_finite()).then_some(mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_the_mean_of_rows_with_a_value_and_stays_without_one() {
        let mut places = Places::default();
        assert_eq!(places.get(0, 2), None);
        let status = [Status::New, Status::Invalid, Status::Rejected];
        places.note(1, 2, &[1.0, 2.0, f64::NAN, 9.0, 3.0, 6.0], &status);
        assert_eq!(places.get(0, 2), None, "nothing was told to this one");
        assert_eq!(places.get(1, 2), Some(&[2.0, 4.0][..]));
        places.note(1, 2, &[f64::NAN; 2], &[Status::Invalid]);
        assert_eq!(places.get(1, 2), Some(&[2.0, 4.0][..]));
        assert_eq!(places.get(2, 2), None, "there is no such emitter");
        places.note(1, 2, &[], &[Status::New]);
        assert_eq!(places.get(1, 2), Some(&[2.0, 4.0][..]), "rows without measures say nothing of places");
    }
}
