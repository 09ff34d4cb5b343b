//! Colours that stay distinguishable with colour-blind vision: perceptually uniform maps for the objective, and the
//! Okabe-Ito palette for series.

/// A colour, 8 bits for each channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rgb(pub u8, pub u8, pub u8);

impl Rgb {
    /// `#rrggbb`.
    pub fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }

    const fn from_u32(rgb: u32) -> Self {
        Self((rgb >> 16) as u8, (rgb >> 8) as u8, rgb as u8)
    }
}

/// A cell without an elite.
pub const EMPTY: Rgb = Rgb(0xf1, 0xf3, 0xf5);

/// A cell whose elite has an objective that is not a number.
pub const NOT_A_NUMBER: Rgb = Rgb(0xb4, 0xb8, 0xbd);

/// Colours of series, by Okabe and Ito, in the order in which they are used: the best contrast on white comes first.
pub const OKABE_ITO: [Rgb; 8] = [
    Rgb::from_u32(0x0072b2),
    Rgb::from_u32(0xd55e00),
    Rgb::from_u32(0x009e73),
    Rgb::from_u32(0xcc79a7),
    Rgb::from_u32(0xe69f00),
    Rgb::from_u32(0x56b4e9),
    Rgb::from_u32(0x000000),
    Rgb::from_u32(0xf0e442),
];

/// A sequential colour map, from the lowest objective (dark) to the highest (light).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorMap {
    /// Blue, green, yellow.
    #[default]
    Viridis,
    /// Black, purple, orange, cream.
    Magma,
    /// Blue, grey, yellow; looks nearly the same with and without colour-blindness.
    Cividis,
}

impl ColorMap {
    /// The colour at `fraction` of the way from low to high; fractions outside 0..1 are clamped.
    pub fn at(self, fraction: f64) -> Rgb {
        let table = self.table();
        let position = fraction.clamp(0.0, 1.0) * (table.len() - 1) as f64;
        if position.is_nan() {
            return NOT_A_NUMBER;
        }
        let below = (position as usize).min(table.len() - 2);
        let (a, b) = (Rgb::from_u32(table[below]), Rgb::from_u32(table[below + 1]));
        let t = position - below as f64;
        let mix = |a: u8, b: u8| (f64::from(a) + t * (f64::from(b) - f64::from(a))).round() as u8;
        Rgb(mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
    }

    fn table(self) -> &'static [u32; 52] {
        match self {
            Self::Viridis => &VIRIDIS,
            Self::Magma => &MAGMA,
            Self::Cividis => &CIVIDIS,
        }
    }
}

// Every fifth entry of the 256 colours of each map, by Nathaniel Smith and Stefan van der Walt (viridis, magma) and
// Jamie Nunez, Christopher Anderton and Ryan Renslow (cividis); all are dedicated to the public domain (CC0).
// Interpolation gives the originals back within one level (cividis, at one bend, within four).

const VIRIDIS: [u32; 52] = [
    0x440154, 0x46085c, 0x471063, 0x481769, 0x481d6f, 0x482475, 0x472a7a, 0x46307e, 0x453781, 0x433d84, 0x414287,
    0x3f4889, 0x3d4e8a, 0x3a538b, 0x38598c, 0x355e8d, 0x33638d, 0x31688e, 0x2e6d8e, 0x2c718e, 0x2a768e, 0x297b8e,
    0x27808e, 0x25848e, 0x23898e, 0x218e8d, 0x20928c, 0x1f978b, 0x1e9c89, 0x1fa188, 0x21a585, 0x24aa83, 0x28ae80,
    0x2eb37c, 0x35b779, 0x3dbc74, 0x46c06f, 0x50c46a, 0x5ac864, 0x65cb5e, 0x70cf57, 0x7cd250, 0x89d548, 0x95d840,
    0xa2da37, 0xb0dd2f, 0xbddf26, 0xcae11f, 0xd8e219, 0xe5e419, 0xf1e51d, 0xfde725,
];

const MAGMA: [u32; 52] = [
    0x000004, 0x02020b, 0x050416, 0x090720, 0x0e0b2b, 0x140e36, 0x1a1042, 0x21114e, 0x29115a, 0x311165, 0x390f6e,
    0x420f75, 0x4a1079, 0x52137c, 0x5a167e, 0x621980, 0x6a1c81, 0x721f81, 0x792282, 0x812581, 0x892881, 0x912b81,
    0x992d80, 0xa1307e, 0xaa337d, 0xb2357b, 0xba3878, 0xc23b75, 0xca3e72, 0xd2426f, 0xd9466b, 0xe04c67, 0xe75263,
    0xec5860, 0xf1605d, 0xf4695c, 0xf7725c, 0xf97b5d, 0xfb8560, 0xfc8e64, 0xfd9869, 0xfea16e, 0xfeaa74, 0xfeb47b,
    0xfebd82, 0xfec68a, 0xfecf92, 0xfed89a, 0xfde2a3, 0xfdebac, 0xfcf4b6, 0xfcfdbf,
];

const CIVIDIS: [u32; 52] = [
    0x00224e, 0x002656, 0x002a5f, 0x002d68, 0x003070, 0x083370, 0x163770, 0x203a6f, 0x273e6e, 0x2e416d, 0x34456c,
    0x3a486c, 0x3f4c6c, 0x444f6c, 0x49536c, 0x4e566c, 0x535a6d, 0x575d6d, 0x5c616e, 0x60646f, 0x656870, 0x696b71,
    0x6d6f72, 0x727274, 0x767676, 0x7a7a78, 0x7e7d78, 0x838179, 0x888578, 0x8d8878, 0x928c78, 0x969077, 0x9b9476,
    0xa09875, 0xa59c74, 0xaaa073, 0xafa471, 0xb5a86f, 0xbaac6d, 0xbfb06b, 0xc4b468, 0xc9b965, 0xcfbd62, 0xd4c15f,
    0xdac65b, 0xdfca57, 0xe5cf52, 0xead34c, 0xf0d846, 0xf6dd3f, 0xfce236, 0xfee838,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_have_their_published_ends_and_middle() {
        assert_eq!(ColorMap::Viridis.at(0.0), Rgb(68, 1, 84));
        assert_eq!(ColorMap::Viridis.at(1.0), Rgb(253, 231, 37));
        assert_eq!(ColorMap::Magma.at(0.0), Rgb(0, 0, 4));
        assert_eq!(ColorMap::Cividis.at(1.0), Rgb(254, 232, 56));
        // Entries 127 and 128 of the 256 of viridis are (33, 144, 141) and (32, 145, 140).
        let Rgb(r, g, b) = ColorMap::Viridis.at(0.5);
        assert!(r.abs_diff(33) <= 1 && g.abs_diff(145) <= 1 && b.abs_diff(141) <= 1, "{r} {g} {b}");
    }

    #[test]
    fn maps_get_lighter_all_the_way() {
        for map in [ColorMap::Viridis, ColorMap::Magma, ColorMap::Cividis] {
            let luminance = |i: usize| {
                let Rgb(r, g, b) = map.at(i as f64 / 100.0);
                0.2126 * f64::from(r).powf(2.2) + 0.7152 * f64::from(g).powf(2.2) + 0.0722 * f64::from(b).powf(2.2)
            };
            for i in 1..=100 {
                assert!(luminance(i) > luminance(i - 1), "{map:?} at {i} %");
            }
        }
    }

    #[test]
    fn colours_are_written_in_six_digits() {
        assert_eq!(Rgb(1, 171, 255).hex(), "#01abff");
    }
}
