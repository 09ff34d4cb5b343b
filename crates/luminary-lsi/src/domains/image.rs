//! Images for people to look at.

use crate::place::to_vec;
use crate::tape::Var;

/// A square image of 8 bits for each colour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Height and width.
    pub size: usize,
    /// Red, green and blue of each pixel, row by row.
    pub rgb: Vec<u8>,
}

impl Image {
    /// The images of a generator, whose values -1 to 1 are the range of colours; what lies outside is cut off.
    pub(super) fn from_generator(images: Var<4>) -> Vec<Self> {
        let [_, colours, size, _] = images.dims();
        let n_pixels = size * size;
        let values = to_vec(images.into_value());
        let one = |planes: &[f64]| {
            let byte = |index: usize| ((planes[index] + 1.0) * 127.5).round().clamp(0.0, 255.0) as u8;
            let rgb = (0..n_pixels).flat_map(|pixel| (0..colours).map(move |colour| byte(colour * n_pixels + pixel)));
            Self { size, rgb: rgb.collect() }
        };
        values.chunks_exact(colours * n_pixels).map(one).collect()
    }
}
