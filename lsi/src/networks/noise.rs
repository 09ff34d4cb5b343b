//! The noise that generators add to their layers.

use burn_tensor::Tensor;
use luminary_math::WideRng;

use crate::place::Place;

/// Which noise images are made with. Every layer multiplies it by a strength of its own.
#[derive(Clone, Debug, Default)]
pub enum Noise {
    /// None.
    Off,
    /// The generator's own, the same for every image: what StyleGAN2 and MobileStyleGAN store with their weights; StyleGAN
    /// stores none and draws it with seed 0.
    #[default]
    Fixed,
    /// These, one tensor for each noisy layer: images (or 1) by 1 by size by size.
    Given(Vec<Tensor<4>>),
}

impl Noise {
    /// Noise from N(0, 1) for layers of these sizes, with a seed for each image. Layers have different streams.
    pub fn drawn(sizes: &[usize], seeds: &[u64], place: &Place) -> Self {
        let draw = |(layer, &size): (usize, &usize)| {
            let mut values = vec![0.0; seeds.len() * size * size];
            for (&seed, image) in seeds.iter().zip(values.chunks_exact_mut(size * size)) {
                WideRng::from_path(seed, &format!("noise/{layer}")).fill_normal(image);
            }
            place.tensor(values, [seeds.len(), 1, size, size])
        };
        Self::Given(sizes.iter().enumerate().map(draw).collect())
    }

    /// The noise of a layer, whose own is `fixed`.
    ///
    /// # Panics
    ///
    /// When none is given for the layer, or of another size.
    pub(super) fn at(&self, layer: usize, fixed: &Tensor<4>) -> Option<Tensor<4>> {
        match self {
            Self::Off => None,
            Self::Fixed => Some(fixed.clone()),
            Self::Given(layers) => {
                let given = layers.get(layer).unwrap_or_else(|| panic!("no noise is given for layer {layer}"));
                let (expected, found) = (fixed.dims(), given.dims());
                assert_eq!(found[1..], expected[1..], "noise of layer {layer}: expected another size");
                Some(given.clone())
            }
        }
    }
}
