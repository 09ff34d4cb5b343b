use serde::{Deserialize, Serialize};
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("x")]
pub struct CvtError;
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum CentroidSource {
    A,
}
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CvtConfig;
#[derive(Clone, Debug)]
pub struct Cvt;
impl Cvt {
    pub fn build(_: &CvtConfig) -> Result<Self, CvtError> {
        Err(CvtError)
    }
    pub fn n_cells(&self) -> usize {
        0
    }
    pub fn measure_bounds(&self) -> &[(f64, f64)] {
        &[]
    }
    pub fn cell_of(&self, _: &[f64]) -> usize {
        0
    }
}
