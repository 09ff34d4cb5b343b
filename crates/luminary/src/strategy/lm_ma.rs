use super::*;
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LmMaConfig;
#[derive(Clone, Debug)]
pub struct LmMaEs {
    pub(super) state: LmMaState,
}
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LmMaState;
impl LmMaEs {
    pub fn new(_: &LmMaConfig, _: StrategyShape) -> Result<Self, ConfigError> {
        todo!()
    }
    pub(super) fn load(&mut self, _: LmMaState) -> Result<(), CheckpointError> {
        todo!()
    }
}
impl EvolutionStrategy for LmMaEs {
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
