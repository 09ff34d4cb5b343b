use super::*;
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SepCmaConfig;
#[derive(Clone, Debug)]
pub struct SepCmaEs {
    pub(super) state: SepCmaState,
}
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SepCmaState;
impl SepCmaEs {
    pub fn new(_: &SepCmaConfig, _: StrategyShape) -> Result<Self, ConfigError> {
        todo!()
    }
    pub(super) fn load(&mut self, _: SepCmaState) -> Result<(), CheckpointError> {
        todo!()
    }
}
impl EvolutionStrategy for SepCmaEs {
    fn ask(&mut self, _: &mut WideRng, _: &mut [f64]) {}
    fn tell(&mut self, _: &[f64], _: &[usize], _: usize) {}
    fn stop_reason(&self) -> Option<StopReason> {
        None
    }
    fn reset(&mut self, _: &[f64]) {}
    fn mean(&self) -> &[f64] {
        &[]
    }
    fn batch_size(&self) -> usize {
        0
    }
}
