//! A finished figure, and how figures look.

use crate::archive::Archive;
use crate::color::ColorMap;
use crate::color_scale::Spacing;
use crate::error::PlotError;
use crate::goal::Goal;
use crate::svg::{Svg, TextStyle};

/// What can be chosen for any figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Style {
    /// Width and height in pixels; each kind of figure has its own default.
    pub size: Option<(f64, f64)>,
    /// Size of the text of axes in pixels; everything else follows. Kept between 4 and 100.
    pub font_size: f64,
    /// Colours of objectives.
    pub color_map: ColorMap,
    /// Objectives at the two ends of the colours; those of the data, without outliers, if absent. Arrows at the ends of the
    /// colour bar say that there are objectives outside.
    pub color_range: Option<(f64, f64)>,
    /// How objectives are spaced along the colours.
    pub spacing: Spacing,
    /// The measures that heatmaps show across and upwards, counted from 0; all pairs, or the first two, if absent.
    pub axes: Option<(usize, usize)>,
    /// Whether higher or lower objectives are better.
    pub goal: Goal,
    /// The algorithm of a line without a name, which has its colour.
    pub algorithm: Option<String>,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            size: None,
            font_size: 12.0,
            color_map: ColorMap::Viridis,
            color_range: None,
            spacing: Spacing::Linear,
            axes: None,
            goal: Goal::Maximise,
            algorithm: None,
        }
    }
}

impl Style {
    /// The size, or the default of the figure; never so small that margins do not fit.
    pub(crate) fn size_or(&self, width: f64, height: f64) -> (f64, f64) {
        let scale = self.font() / 12.0;
        let (w, h) = self.size.unwrap_or((width * scale, height * scale));
        let keep = |side: f64, default: f64| if side.is_finite() { side.clamp(120.0, 20_000.0) } else { default };
        (keep(w, width), keep(h, height))
    }

    /// The chosen measures.
    ///
    /// # Errors
    /// If the archive does not have them, or if they are the same.
    pub(crate) fn axes_of(&self, archive: &Archive) -> Result<Option<(usize, usize)>, PlotError> {
        let n_measures = archive.measures.len();
        match self.axes {
            Some((x, y)) if x >= n_measures || y >= n_measures || x == y => Err(PlotError::Shape {
                what: "measures of a heatmap",
                expected: format!("two different ones of the {n_measures} measures, counted from 0"),
                found: format!("{x} and {y}"),
            }),
            axes => Ok(axes),
        }
    }

    pub(crate) fn font(&self) -> f64 {
        if self.font_size.is_finite() { self.font_size.clamp(4.0, 100.0) } else { 12.0 }
    }

    pub(crate) fn tick_text(&self) -> TextStyle {
        TextStyle::new(self.font() * 0.95).muted()
    }

    pub(crate) fn label_text(&self) -> TextStyle {
        TextStyle::new(self.font() * 1.08)
    }

    pub(crate) fn title_text(&self) -> TextStyle {
        TextStyle::new(self.font() * 1.33).semibold()
    }

    pub(crate) fn note_text(&self) -> TextStyle {
        TextStyle::new(self.font() * 0.95).muted()
    }
}

/// A finished figure.
#[derive(Clone, Debug)]
pub struct Figure {
    svg: String,
    width: f64,
    height: f64,
}

impl Figure {
    pub(crate) fn new(svg: Svg, size: (f64, f64)) -> Self {
        Self { svg: svg.finish(), width: size.0, height: size.1 }
    }

    /// The figure as SVG.
    pub fn svg(&self) -> &str {
        &self.svg
    }

    /// Width and height in pixels.
    pub fn size(&self) -> (f64, f64) {
        (self.width, self.height)
    }
}
