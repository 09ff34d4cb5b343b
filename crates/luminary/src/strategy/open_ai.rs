use super::*;
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenAiConfig;
#[derive(Clone, Debug)]
pub struct OpenAiEs {
    pub(super) state: OpenAiState,
}
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OpenAiState;
impl OpenAiEs {
    pub fn new(_: &OpenAiConfig, _: StrategyShape) -> Result<Self, ConfigError> {
        todo!()
    }
    pub(super) fn load(&mut self, _: OpenAiState) -> Result<(), CheckpointError> {
        todo!()
    }
}
impl EvolutionStrategy for OpenAiEs {
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
