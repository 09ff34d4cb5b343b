//! Choosing the instruction set at run time.

/// An instruction set that this machine is known to have.
///
/// A value can only be made by asking the machine ([`best`](Self::best), [`available`](Self::available)) or for the
/// baseline, so holding one proves that calling code compiled for it is sound. Levels are ordered, narrowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(LevelKind);

/// The closed list behind [`Level`]; public only because [`dispatch!`](crate::dispatch) expands in other crates.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LevelKind {
    Baseline,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// What the compiler was told to build for: SSE2 on x86-64, plain code elsewhere.
    pub const BASELINE: Self = Self(LevelKind::Baseline);

    /// The widest level of this machine. The standard library remembers what it detected, so this costs a few loads.
    pub fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2");
            let avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512bw");
            if avx2 && avx512 {
                return Self(LevelKind::Avx512);
            }
            if avx2 {
                return Self(LevelKind::Avx2);
            }
        }
        Self::BASELINE
    }

    /// Every level of this machine, narrowest first. Tests run a kernel at each of them and compare the bits.
    pub fn available() -> impl Iterator<Item = Self> {
        let all = [
            LevelKind::Baseline,
            #[cfg(target_arch = "x86_64")]
            LevelKind::Avx2,
            #[cfg(target_arch = "x86_64")]
            LevelKind::Avx512,
        ];
        let best = Self::best();
        // Each level includes the ones before it, which `best` made sure of.
        all.into_iter().map(Self).filter(move |level| *level <= best)
    }

    /// For the expansion of [`dispatch!`](crate::dispatch).
    #[doc(hidden)]
    #[inline]
    pub fn kind(self) -> LevelKind {
        self.0
    }
}

/// Compiles a function once per [`Level`] and calls the copy for the level it is given.
///
/// The first parameter must be written `level: Level`; the body does not see it. The other parameters are plain
/// `name: type` pairs. Everything the body calls in its loops must be `#[inline(always)]` to be compiled for the level
/// too. The level must not change any result: use no fused multiply-add and no reordered sums.
///
/// The crate documentation has an example.
#[macro_export]
macro_rules! dispatch {
    (
        $(#[$attribute:meta])*
        $visibility:vis fn $name:ident($level:ident: Level $(, $argument:ident: $type:ty)* $(,)?) $(-> $output:ty)?
        $body:block
    ) => {
        $(#[$attribute])*
        $visibility fn $name($level: $crate::Level $(, $argument: $type)*) $(-> $output)? {
            #[inline(always)]
            fn kernel($($argument: $type),*) $(-> $output)? $body

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            fn avx2($($argument: $type),*) $(-> $output)? {
                kernel($($argument),*)
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw")]
            fn avx512($($argument: $type),*) $(-> $output)? {
                kernel($($argument),*)
            }

            match $level.kind() {
                $crate::LevelKind::Baseline => kernel($($argument),*),
                // SAFETY: a `Level` of this kind exists only where the processor has these features.
                #[cfg(target_arch = "x86_64")]
                $crate::LevelKind::Avx2 => unsafe { avx2($($argument),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                $crate::LevelKind::Avx512 => unsafe { avx512($($argument),*) },
            }
        }
    };
}
