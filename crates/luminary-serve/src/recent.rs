//! Pictures of archives that were asked for last: whoever asks again, or takes long to read one, costs no more memory.

use std::sync::{Mutex, PoisonError};

use axum::body::Bytes;

/// Pictures that are kept.
const N_KEPT: usize = 4;
/// Bytes of all pictures that are kept; the newest is kept however large it is.
const MAX_KEPT: usize = 128 << 20;

/// The pictures that were asked for last, by their tags.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    /// The newest last.
    kept: Mutex<Vec<(String, Bytes)>>,
}

impl Recent {
    /// The picture with this tag, made if it is not there; nothing if it cannot be made.
    pub(crate) fn get(&self, tag: &str, make: impl FnOnce() -> Option<Bytes>) -> Option<Bytes> {
        if let Some(bytes) = self.find(tag) {
            return Some(bytes);
        }
        // Others go on while it is made. Two who ask at once make it twice.
        let bytes = make()?;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push((tag.to_owned(), bytes.clone()));
        while kept.len() > 1 && (kept.len() > N_KEPT || n_bytes(&kept) > MAX_KEPT) {
            kept.remove(0);
        }
        Some(bytes)
    }

    fn find(&self, tag: &str) -> Option<Bytes> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let place = kept.iter().position(|(of, _)| of == tag)?;
        let found = kept.remove(place);
        let bytes = found.1.clone();
        kept.push(found);
        Some(bytes)
    }
}

fn n_bytes(kept: &[(String, Bytes)]) -> usize {
    kept.iter().map(|(_, bytes)| bytes.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_made_once_while_it_is_among_the_newest() {
        let recent = Recent::default();
        let mut n_made = 0;
        let mut get = |tag: &str| {
            let bytes = recent.get(tag, || {
                n_made += 1;
                Some(Bytes::copy_from_slice(tag.as_bytes()))
            });
            assert_eq!(bytes.unwrap(), tag.as_bytes());
        };
        ["a", "b", "a", "c", "d", "a", "e", "a", "b"].into_iter().for_each(&mut get);
        assert_eq!(n_made, 6, "only b was forgotten");
        assert!(recent.get("none", || None).is_none());
    }
    #[test]
    fn large_pictures_make_room_for_newer_ones() {
        let recent = Recent::default();
        let large = Bytes::from(vec![0; MAX_KEPT / 2]);
        for tag in ["a", "b", "c"] {
            recent.get(tag, || Some(large.clone()));
        }
        let is_kept = |tag| recent.get(tag, || None).is_some();
        assert_eq!(["a", "b", "c"].map(is_kept), [false, true, true]);
    }
}
