//! The kinds of models, and how to tell their files apart.

use std::fmt;

/// A kind of model that weights can be loaded for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModelKind {
    /// StyleGAN (Karras, Laine and Aila, 2019).
    StyleGan,
    /// StyleGAN2 (Karras et al., 2020).
    StyleGan2,
    /// MobileStyleGAN (Belousov, 2021).
    MobileStyleGan,
    /// CLIP (Radford et al., 2021).
    Clip,
    /// Age and gender, expression and identity of faces (face-api).
    FaceNets,
}

impl ModelKind {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::StyleGan, Self::StyleGan2, Self::MobileStyleGan, Self::Clip, Self::FaceNets];

    /// The kind of a file, from a tensor that every file of a kind has and no other.
    pub fn of(has_tensor: impl Fn(&str) -> bool) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| has_tensor(kind.mark()))
    }

    fn mark(self) -> &'static str {
        match self {
            Self::StyleGan => "g_synthesis.blocks.4x4.const",
            Self::StyleGan2 => "synthesis.b4.const",
            Self::MobileStyleGan => "synthesis.input",
            Self::Clip => "vision_model.embeddings.patch_embedding.weight",
            Self::FaceNets => "age_gender.entry_flow.conv_in.weight",
        }
    }
}

impl fmt::Display for ModelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::StyleGan => "StyleGAN",
            Self::StyleGan2 => "StyleGAN2",
            Self::MobileStyleGan => "MobileStyleGAN",
            Self::Clip => "CLIP",
            Self::FaceNets => "face networks",
        })
    }
}
