//! Words, integers, saving and restoring.

use luminary_math::WideRng;
use proptest::prelude::*;

/// Pinned: whoever changes these numbers changes every run that anyone has recorded. The words were computed apart from
/// this crate, from the published definitions of SplitMix64, FNV-1a and xoshiro256++.
#[test]
fn the_streams_never_change() {
    let mut rng = WideRng::from_path(42, "emitter/3/strategy");
    let words = [(); 3].map(|()| rng.next_u64());
    assert_eq!(words, [15579812572751590287, 8496271481490604, 14358109077813947011]);
    assert_eq!(WideRng::new(0).next_u64(), 14586176676386745131);

    let mut normals = [0.0; 100_000];
    rng.fill_normal(&mut normals);
    assert_eq!(normals[..4], [1.211430850280902, 1.256145735862975, -0.6154641718856529, 0.9878267891331844]);
    // Rejected candidates and the tail are part of the stream: the sum of all bits pins them too.
    let sum = normals.iter().fold(0, |sum: u64, normal| sum.wrapping_add(normal.to_bits()));
    assert_eq!((sum, rng.next_u64()), (7493703374849977702, 10183676886992270395));
    assert_eq!([rng.below(1000), rng.below(3)], [131, 0]);
    assert_eq!(rng.uniform(), 0.619290008470851);
}

#[test]
fn how_normals_are_split_over_calls_changes_nothing() {
    let mut whole = [0.0; 200];
    WideRng::new(5).fill_normal(&mut whole);
    let mut rng = WideRng::new(5);
    let mut split = [0.0; 200];
    let (filled, single) = split.split_at_mut(100);
    let (short, long) = filled.split_at_mut(3);
    rng.fill_normal(short);
    rng.fill_normal(&mut []);
    rng.fill_normal(long);
    single.fill_with(|| rng.normal());
    assert_eq!(whole, split);
}

#[test]
fn uniform_is_uniform() {
    let mut rng = WideRng::new(2);
    let mut counts = [0.0; 64];
    let n_draws = 1_000_000;
    for _ in 0..n_draws {
        let u = rng.uniform();
        assert!((0.0..1.0).contains(&u));
        counts[(u * 64.0) as usize] += 1.0;
    }
    assert_even(&counts, f64::from(n_draws));
}

#[test]
fn below_has_no_favourites() {
    let mut rng = WideRng::new(3);
    for n in [1, 2, 3, 10, 36, 1000] {
        let n_draws = 1000 * n.max(300);
        let mut counts = vec![0.0; n];
        for _ in 0..n_draws {
            counts[rng.below(n)] += 1.0;
        }
        assert_even(&counts, n_draws as f64);
    }
}

#[test]
#[cfg(target_pointer_width = "64")]
fn below_drops_what_would_bias_it() {
    // With n = 3 * 2^62, multiplying without dropping makes every third integer twice as likely as the others.
    let mut rng = WideRng::new(4);
    let mut counts = [0.0; 3];
    for _ in 0..300_000 {
        counts[rng.below(3 << 62) % 3] += 1.0;
    }
    assert_even(&counts, 300_000.0);
}

#[test]
#[should_panic(expected = "expected a positive bound, found 0")]
fn below_zero_is_a_fault_of_the_caller() {
    WideRng::new(1).below(0);
}

/// Pearson's chi-square within six standard deviations, with room for its skew at few counts.
fn assert_even(counts: &[f64], n_draws: f64) {
    let expected = n_draws / counts.len() as f64;
    let statistic: f64 = counts.iter().map(|count| (count - expected).powi(2) / expected).sum();
    let freedom = (counts.len() - 1) as f64;
    assert!(
        statistic <= freedom + 6.0 * (2.0 * freedom).sqrt() + 12.0,
        "{statistic} with {freedom} degrees of freedom"
    );
}

proptest! {
    #[test]
    fn below_stays_below(seed: u64, n in 1..=usize::MAX) {
        let mut rng = WideRng::new(seed);
        for _ in 0..20 {
            prop_assert!(rng.below(n) < n);
        }
    }

    #[test]
    fn a_restored_generator_continues_with_the_same_bits(seed: u64, draws in prop::collection::vec(0..60usize, 0..20)) {
        let mut rng = WideRng::from_path(seed, "emitter/3/strategy");
        for n in draws {
            draw(&mut rng, n);
            let mut restored: WideRng = rmp_serde::from_slice(&rmp_serde::to_vec(&rng).unwrap()).unwrap();
            prop_assert_eq!(&restored, &rng);
            prop_assert_eq!(draw(&mut restored, 57), draw(&mut rng.clone(), 57));
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        if let Ok(mut rng) = rmp_serde::from_slice::<WideRng>(&bytes) {
            draw(&mut rng, 40);
        }
    }

    /// Damage to a real state gets further than plain noise.
    #[test]
    fn damaged_bytes_never_panic(seed: u64, place: prop::sample::Index, byte: u8) {
        let mut rng = WideRng::new(seed);
        draw(&mut rng, 5);
        let mut bytes = rmp_serde::to_vec(&rng).unwrap();
        let n_bytes = bytes.len();
        bytes[place.index(n_bytes)] = byte;
        if let Ok(mut rng) = rmp_serde::from_slice::<WideRng>(&bytes) {
            draw(&mut rng, 40);
        }
    }
}

/// The bits of some draws of every kind.
fn draw(rng: &mut WideRng, n: usize) -> Vec<u64> {
    let mut normals = vec![0.0; n];
    rng.fill_normal(&mut normals);
    let words = [rng.next_u64(), rng.below(n + 1) as u64, rng.uniform().to_bits(), rng.normal().to_bits()];
    normals.iter().map(|normal| normal.to_bits()).chain(words).collect()
}
