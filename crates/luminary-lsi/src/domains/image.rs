//! Images for people to look at.

use std::io;
use std::path::Path;

use burn_tensor::Tensor;

use crate::place::{Place, to_vec};
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

    /// Reads a square PNG file with 8 bits for each of its colours.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, or another kind of image.
    pub fn read_png(path: &Path) -> io::Result<Self> {
        let file = io::BufReader::new(std::fs::File::open(path)?);
        let mut reader = png::Decoder::new(file).read_info().map_err(io::Error::other)?;
        let info = reader.info();
        let (width, height, colours) = (info.width as usize, info.height as usize, info.color_type.samples());
        if width != height || info.bit_depth != png::BitDepth::Eight || colours < 3 {
            let found = format!("{width} by {height} pixels, {:?} of {:?} bits", info.color_type, info.bit_depth);
            return Err(io::Error::other(format!("expected a square image in colours of 8 bits, found {found}")));
        }
        let mut pixels = vec![0; width * height * colours];
        reader.next_frame(&mut pixels).map_err(io::Error::other)?;
        Ok(Self { size: width, rgb: pixels.chunks_exact(colours).flat_map(|pixel| &pixel[..3]).copied().collect() })
    }

    /// The image as a generator would have made it.
    pub(super) fn to_generator(&self, place: &Place) -> Tensor<4> {
        let colour = |colour: usize| self.rgb.iter().skip(colour).step_by(3).map(|&byte| f64::from(byte) / 127.5 - 1.0);
        place.tensor((0..3).flat_map(colour).collect(), [1, 3, self.size, self.size])
    }
}
