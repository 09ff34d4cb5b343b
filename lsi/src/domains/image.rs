//! Images for people to look at.

use std::io;
use std::path::Path;

use burn_tensor::Tensor;

use crate::place::{Place, to_vec};
use crate::tape::Var;

/// Images that are read may have so many pixels along each side, lest a damaged file ask for all memory.
const LARGEST: usize = 8192;

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

    /// Reads a square PNG file of any kind of colours; what is transparent is not.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, or an image that is not square or too large.
    pub fn read_png(path: &Path) -> io::Result<Self> {
        let mut decoder = png::Decoder::new(io::BufReader::new(std::fs::File::open(path)?));
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let not_png = |error: png::DecodingError| io::Error::other(format!("expected a PNG image: {error}"));
        let mut reader = decoder.read_info().map_err(not_png)?;
        let (width, height) = (reader.info().width as usize, reader.info().height as usize);
        if width != height || width > LARGEST {
            let message = format!(
                "expected a square image of at most {LARGEST} by {LARGEST}, found one of {width} by {height} pixels"
            );
            return Err(io::Error::other(message));
        }
        let n_samples = reader.output_color_type().0.samples();
        let mut pixels = vec![0; width * height * n_samples];
        reader.next_frame(&mut pixels).map_err(not_png)?;
        // One sample and two are grey, without and with transparency.
        let colours = |pixel: &[u8]| if n_samples < 3 { [pixel[0]; 3] } else { [pixel[0], pixel[1], pixel[2]] };
        Ok(Self { size: width, rgb: pixels.chunks_exact(n_samples).flat_map(colours).collect() })
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

    /// The checksum of a part of a PNG file.
    fn crc(bytes: &[u8]) -> u32 {
        let step = |sum: u32| (sum >> 1) ^ if sum & 1 == 1 { 0xEDB8_8320 } else { 0 };
        !bytes.iter().fold(!0, |sum, &byte| (0..8).fold(sum ^ u32::from(byte), |sum, _| step(sum)))
    }

    #[test]
    fn any_colours_are_read_and_what_is_not_a_square_png_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("image.png");
        let read = |width: u32, colour: png::ColorType| {
            let mut encoder = png::Encoder::new(std::fs::File::create(&path).unwrap(), width, 2);
            encoder.set_color(colour);
            encoder.set_palette(vec![9, 8, 7]);
            let pixels: Vec<u8> = (0..2 * width as usize * colour.samples()).map(|i| i as u8).collect();
            let pixels = if colour == png::ColorType::Indexed { vec![0; pixels.len()] } else { pixels };
            encoder.write_header().unwrap().write_image_data(&pixels).unwrap();
            Image::read_png(&path)
        };
        assert_eq!(read(2, png::ColorType::Grayscale).unwrap().rgb, [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]);
        assert_eq!(read(2, png::ColorType::GrayscaleAlpha).unwrap().rgb[3..6], [2, 2, 2]);
        assert_eq!(read(2, png::ColorType::Rgba).unwrap().rgb[3..6], [4, 5, 6]);
        assert_eq!(read(2, png::ColorType::Indexed).unwrap().rgb, [9, 8, 7].repeat(4));
        assert!(read(3, png::ColorType::Rgb).unwrap_err().to_string().contains("found one of 3 by 2 pixels"));
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[16..24].copy_from_slice(&[0, 1, 0, 0, 0, 1, 0, 0]);
        let checksum = crc(&bytes[12..29]);
        bytes[29..33].copy_from_slice(&checksum.to_be_bytes());
        std::fs::write(&path, bytes).unwrap();
        assert!(Image::read_png(&path).unwrap_err().to_string().contains("found one of 65536 by 65536"));
        std::fs::write(&path, b"not a picture").unwrap();
        assert!(Image::read_png(&path).unwrap_err().to_string().contains("expected a PNG image"));
    }
}
