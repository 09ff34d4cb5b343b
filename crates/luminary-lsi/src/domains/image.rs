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

    /// Writes a PNG file.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn write_png(&self, path: &Path) -> io::Result<()> {
        let size = self.size as u32;
        let mut encoder = png::Encoder::new(io::BufWriter::new(std::fs::File::create(path)?), size, size);
        encoder.set_color(png::ColorType::Rgb);
        let mut writer = encoder.write_header().map_err(io::Error::other)?;
        writer.write_image_data(&self.rgb).and_then(|()| writer.finish()).map_err(io::Error::other)
    }

    /// The image as a generator would have made it.
    pub(super) fn to_generator(&self, place: &Place) -> Tensor<4> {
        let colour = |colour: usize| self.rgb.iter().skip(colour).step_by(3).map(|&byte| f64::from(byte) / 127.5 - 1.0);
        place.tensor((0..3).flat_map(colour).collect(), [1, 3, self.size, self.size])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("image.png");
        let image = Image { size: 5, rgb: (0..75).map(|i| (i * 3) as u8).collect() };
        image.write_png(&path).unwrap();
        assert_eq!(Image::read_png(&path).unwrap(), image);
    }

    #[test]
    fn other_images_are_refused_with_what_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("image.png");
        let refusal = |width: u32, height: u32, colour: png::ColorType| {
            let mut encoder = png::Encoder::new(std::fs::File::create(&path).unwrap(), width, height);
            encoder.set_color(colour);
            let pixels = vec![0; (width * height) as usize * colour.samples()];
            encoder.write_header().unwrap().write_image_data(&pixels).unwrap();
            Image::read_png(&path).unwrap_err().to_string()
        };
        assert!(refusal(4, 3, png::ColorType::Rgb).contains("found 4 by 3 pixels"));
        assert!(refusal(4, 4, png::ColorType::Grayscale).contains("Grayscale"));
        std::fs::write(&path, b"not a picture").unwrap();
        assert!(Image::read_png(&path).is_err());
    }
}
