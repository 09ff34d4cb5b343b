//! Colours of the terminal heatmap.

/// What the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Colours {
    /// 24 bits.
    True,
    /// The 256 colours that nearly every terminal has.
    Indexed,
    /// None, by the user's wish.
    None,
}

impl Colours {
    /// By the usual environment variables.
    pub(super) fn of_terminal() -> Self {
        let has = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let true_colour = |value: std::ffi::OsString| value == "truecolor" || value == "24bit";
        match std::env::var_os("COLORTERM") {
            _ if has("NO_COLOR") => Self::None,
            Some(value) if true_colour(value.clone()) => Self::True,
            _ => Self::Indexed,
        }
    }

    /// The escape sequence that selects a colour; `layer` is 38 for the character and 48 for its background.
    pub(super) fn select(self, layer: u8, (r, g, b): (u8, u8, u8)) -> String {
        match self {
            Self::True => format!("\x1b[{layer};2;{r};{g};{b}m"),
            Self::Indexed => {
                // The 6 x 6 x 6 cube begins at 16; its levels are 0, 95, 135, 175, 215, 255.
                let level = |value: u8| if value < 48 { 0 } else { (u16::from(value).max(95) - 35) / 40 };
                format!("\x1b[{layer};5;{}m", 16 + 36 * level(r) + 6 * level(g) + level(b))
            }
            Self::None => String::new(),
        }
    }
}

/// The viridis map at nine equal steps: even in lightness, and readable for the colour-blind.
const VIRIDIS: [(u8, u8, u8); 9] = [
    (68, 1, 84),
    (71, 44, 122),
    (59, 81, 139),
    (44, 113, 142),
    (33, 144, 141),
    (39, 173, 129),
    (92, 200, 99),
    (170, 220, 50),
    (253, 231, 37),
];

/// The colour of a value in `[0, 1]`.
pub(super) fn viridis(value: f64) -> (u8, u8, u8) {
    let position = value.clamp(0.0, 1.0) * (VIRIDIS.len() - 1) as f64;
    let i = (position as usize).min(VIRIDIS.len() - 2);
    let t = position - i as f64;
    let mix = |a: u8, b: u8| (f64::from(a) + t * (f64::from(b) - f64::from(a))).round() as u8;
    let (low, high) = (VIRIDIS[i], VIRIDIS[i + 1]);
    (mix(low.0, high.0), mix(low.1, high.1), mix(low.2, high.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_meets_its_ends_and_stays_within_them() {
        assert_eq!((viridis(0.0), viridis(1.0)), (VIRIDIS[0], VIRIDIS[8]));
        assert_eq!((viridis(-5.0), viridis(9.0)), (VIRIDIS[0], VIRIDIS[8]));
    }

    #[test]
    fn indexed_colours_stay_in_the_cube() {
        assert_eq!(Colours::Indexed.select(38, (0, 0, 0)), "\x1b[38;5;16m");
        assert_eq!(Colours::Indexed.select(48, (255, 255, 255)), "\x1b[48;5;231m");
        assert_eq!(Colours::None.select(38, (1, 2, 3)), "");
    }
}
