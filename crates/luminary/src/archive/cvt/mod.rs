//! Centroidal Voronoi tessellation: cells that are the Voronoi regions of centroids in a bounded measure space.
//!
//! A grid of k measures needs exponentially many cells; a tessellation has as many as you ask for, in any number of
//! measures (Vassiliades, Chatzilygeroudis and Mouret, "Using Centroidal Voronoi Tessellations to Scale Up the
//! Multidimensional Archive of Phenotypic Elites Algorithm", IEEE TEVC 2018).
//!
//! Read on in [`centroids`] (where they come from), `kmeans`, and `nearest` (the exact search behind
//! [`Cvt::cell_of`]).

mod centroids;
mod error;
mod kmeans;
mod nearest;
mod random;

pub use centroids::{CentroidSource, CvtConfig};
pub use error::CvtError;

use error::{check_bounds, check_centroids, check_size};
use nearest::{Hit, Nearest, Table};
use serde::{Deserialize, Serialize, Serializer};

use super::CellIdx;

/// A tessellation of the measure space: a point belongs to the cell of its nearest centroid.
///
/// Distances are Euclidean and computed in `f64`; equally near centroids yield the lowest cell. Any finite point has a
/// cell, also far outside the bounds (2^26 times the radius and more away, its direction decides). The answer depends
/// only on the centroids, never on the machine or on how many points are asked at once.
///
/// Serialises as its centroids and bounds; the search index is rebuilt on loading.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "CvtData")]
pub struct Cvt {
    centroids: Vec<f64>,
    measure_bounds: Vec<(f64, f64)>,
    nearest: Nearest,
    /// Of a tessellation that is made to be asked often.
    table: Option<Table>,
}

impl Cvt {
    /// Finds centroids as the configuration says, and prepares for many questions, which in two measures takes as long as
    /// some twenty of them for each cell.
    ///
    /// # Errors
    ///
    /// Any [`CvtError`], before anything large is allocated.
    pub fn build(config: &CvtConfig) -> Result<Cvt, CvtError> {
        Cvt::build_watched(config, &mut |_| {})
    }

    /// [`build`](Cvt::build), which tells which share of k-means is done, from 0 to 1: with a million cells it
    /// takes minutes.
    ///
    /// # Errors
    ///
    /// As [`build`](Cvt::build).
    pub fn build_watched(config: &CvtConfig, progress: &mut dyn FnMut(f64)) -> Result<Cvt, CvtError> {
        let cvt = Cvt::new(config.centroids(progress)?, config.measure_bounds.clone())?;
        let table = Table::new(&cvt.centroids, &cvt.measure_bounds);
        Ok(Cvt { table, ..cvt })
    }

    /// Takes centroids row by row, one coordinate per measure. They may lie outside the bounds. Good for few questions:
    /// answers are those of [`Cvt::build`] with the same centroids, and take longer.
    ///
    /// # Errors
    ///
    /// No centroids or measures, incomplete rows, bounds or coordinates that are not finite and in order.
    pub fn new(centroids: Vec<f64>, measure_bounds: Vec<(f64, f64)>) -> Result<Cvt, CvtError> {
        check_bounds(&measure_bounds)?;
        check_centroids(&centroids, measure_bounds.len())?;
        check_size(centroids.len() / measure_bounds.len(), measure_bounds.len(), 0)?;
        let nearest = Nearest::new(&centroids, &measure_bounds);
        Ok(Cvt { centroids, measure_bounds, nearest, table: None })
    }

    /// The cell of one point. Nothing is allocated, but a small buffer per thread, once. With more than about ten
    /// measures, [`Cvt::cells_of`] is several times faster per point.
    ///
    /// # Panics
    ///
    /// If the number of measures is not that of the tessellation. They must be finite; otherwise the cell is arbitrary
    /// (and may not exist).
    pub fn cell_of(&self, measures: &[f64]) -> usize {
        assert_eq!(measures.len(), self.measure_dim(), "measures of one point");
        let known = self.table.as_ref().and_then(|table| table.cell_of(&self.centroids, measures));
        known.unwrap_or_else(|| self.nearest.find(&self.centroids, measures).cell as usize)
    }

    /// The cells of a batch of points, given row by row.
    ///
    /// # Panics
    ///
    /// If there is not one row of measures per output. For measures that are not finite see [`Cvt::cell_of`].
    pub fn cells_of(&self, measures: &[f64], cells: &mut [CellIdx]) {
        const CHUNK: usize = 256;
        let dim = self.measure_dim();
        assert_eq!(measures.len(), cells.len() * dim, "one row of measures per cell");
        if let Some(table) = &self.table {
            let search = |point: &[f64]| self.nearest.find(&self.centroids, point).cell as usize;
            return table.cells_of(&self.centroids, measures, cells, search);
        }
        let mut hits = [Hit::NONE; CHUNK];
        for (measures, cells) in measures.chunks(CHUNK * dim).zip(cells.chunks_mut(CHUNK)) {
            let hits = &mut hits[..cells.len()];
            hits.fill(Hit::NONE);
            self.nearest.improve_all(&self.centroids, measures, hits);
            for (cell, hit) in cells.iter_mut().zip(hits) {
                *cell = CellIdx::new(hit.cell as usize);
            }
        }
    }

    /// The number of cells.
    pub fn n_cells(&self) -> usize {
        self.centroids.len() / self.measure_dim()
    }

    /// The number of measures.
    pub fn measure_dim(&self) -> usize {
        self.measure_bounds.len()
    }

    /// Lower and upper bound of each measure.
    pub fn measure_bounds(&self) -> &[(f64, f64)] {
        &self.measure_bounds
    }

    /// All centroids, row by row.
    pub fn centroids(&self) -> &[f64] {
        &self.centroids
    }

    /// The centroid of one cell.
    ///
    /// # Panics
    ///
    /// If there is no such cell.
    pub fn centroid(&self, cell: usize) -> &[f64] {
        &self.centroids[cell * self.measure_dim()..][..self.measure_dim()]
    }
}

impl PartialEq for Cvt {
    fn eq(&self, other: &Cvt) -> bool {
        self.centroids == other.centroids && self.measure_bounds == other.measure_bounds
    }
}

impl Serialize for Cvt {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename = "CvtData")]
        struct CvtDataRef<'a> {
            centroids: &'a [f64],
            measure_bounds: &'a [(f64, f64)],
        }
        CvtDataRef { centroids: &self.centroids, measure_bounds: &self.measure_bounds }.serialize(serializer)
    }
}

/// What a [`Cvt`] is saved as.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CvtData {
    centroids: Vec<f64>,
    measure_bounds: Vec<(f64, f64)>,
}

impl TryFrom<CvtData> for Cvt {
    type Error = CvtError;

    fn try_from(data: CvtData) -> Result<Cvt, CvtError> {
        Cvt::new(data.centroids, data.measure_bounds)
    }
}

#[cfg(test)]
mod tests;
