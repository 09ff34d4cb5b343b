//! Random square parts of images.

use luminary_math::WideRng;
use serde::{Deserialize, Serialize};

use crate::networks::{Resample, Window};
use crate::place::Place;

use super::LsiError;

/// How images are cut.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cutouts {
    /// Cutouts of each image.
    pub count: usize,
    /// The smallest size in pixels; the largest is that of the images. The size of CLIP's images if not given.
    pub smallest: Option<usize>,
    /// Cutouts that CLIP sees at once: more is faster on a GPU and takes more memory.
    pub per_pass: usize,
}

impl Default for Cutouts {
    /// The paper's 32.
    fn default() -> Self {
        Self { count: 32, smallest: None, per_pass: 8 }
    }
}

impl Cutouts {
    pub(super) fn check(&self, resolution: usize, clip_size: usize) -> Result<(), LsiError> {
        LsiError::check_count("cutouts", 1, self.count)?;
        LsiError::check_count("cutouts per pass", 1, self.per_pass)?;
        let smallest = self.smallest.unwrap_or(clip_size);
        LsiError::check_count("smallest cutout", 1, smallest)?;
        if smallest > resolution {
            return Err(LsiError::CutoutSize { resolution, found: smallest });
        }
        Ok(())
    }

    /// Draws windows: sizes between the smallest and the image's, larger ones more often (the square root of a uniform
    /// number), anywhere in the image.
    pub(super) fn windows(&self, seed: u64, resolution: usize, clip_size: usize) -> Vec<Window> {
        let smallest = self.smallest.unwrap_or(clip_size);
        let mut rng = WideRng::from_path(seed, "cutouts");
        let mut draw = || {
            let size = (rng.uniform().sqrt() * (resolution - smallest) as f64) as usize + smallest;
            let mut start = || rng.below(resolution - size + 1);
            Window { top: start(), left: start(), size }
        };
        (0..self.count).map(|_| draw()).collect()
    }

    /// Windows as maps from images to CLIP's images.
    pub(super) fn resamplers(windows: &[Window], resolution: usize, clip_size: usize, place: &Place) -> Vec<Resample> {
        windows.iter().map(|&window| Resample::average(window, resolution, clip_size, place)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_lie_inside_and_large_ones_are_common() {
        let cutouts = Cutouts { count: 4000, ..Cutouts::default() };
        let windows = cutouts.windows(3, 1024, 224);
        assert!(windows.iter().all(|w| w.size >= 224 && w.top + w.size <= 1024 && w.left + w.size <= 1024));
        // The root of a uniform number has the mean 2/3 and the deviation sqrt(1/18); its mean over 4000 draws deviates by
        // 0.0037, of which the tolerance is four times.
        let mean = windows.iter().map(|w| (w.size - 224) as f64 / 800.0).sum::<f64>() / 4000.0;
        assert!((mean - 2.0 / 3.0).abs() < 0.015, "{mean}");
        // Positions are uniform: the mean of the free space above is a half.
        let free: Vec<_> = windows.iter().filter(|w| w.size < 1024).collect();
        let above = free.iter().map(|w| w.top as f64 / (1024 - w.size) as f64).sum::<f64>() / free.len() as f64;
        assert!((above - 0.5).abs() < 0.02, "{above}");
    }

    #[test]
    fn windows_follow_from_the_seed() {
        let cutouts = Cutouts::default();
        assert_eq!(cutouts.windows(7, 64, 24), cutouts.windows(7, 64, 24));
        assert_ne!(cutouts.windows(7, 64, 24), cutouts.windows(8, 64, 24));
    }

    #[test]
    fn cutouts_that_do_not_fit_are_refused() {
        let too_large = Cutouts { smallest: Some(33), ..Cutouts::default() };
        assert_eq!(too_large.check(32, 24), Err(LsiError::CutoutSize { resolution: 32, found: 33 }));
        assert!(Cutouts { count: 0, ..Cutouts::default() }.check(32, 24).is_err());
        assert_eq!(Cutouts::default().check(32, 24), Ok(()));
    }
}
