//! Exact reduction of huge angles (Payne and Hanek, "Radian Reduction for Trigonometric Functions", 1983).
//!
//! The angle is an integer `m` times a power of two. Multiplied by 2/pi, only a window of 192 bits of 2/pi matters: bits
//! above it contribute whole turns, bits below it contribute less than 2^-137 of a right angle, while no double comes
//! nearer than about 2^-62 to a multiple of pi/2.

/// Splits a finite `angle` of magnitude at least 2^-8 into `quadrant * pi/2 + r` with |r| <= pi/4. Only the two low bits
/// of the quadrant count.
pub(crate) fn reduce_large(angle: f64) -> (f64, u64) {
    let bits = angle.abs().to_bits();
    let mantissa = u128::from(bits & ((1 << 52) - 1) | 1 << 52);
    let exponent = (bits >> 52) as i64 - 1075; // |angle| = mantissa * 2^exponent

    // The window starts where a unit of the mantissa weighs four right angles; 64 for the zero word in front.
    let start = (exponent - 2 + 64) as usize;
    let window = |word: usize| -> u128 {
        let (index, shift) = (start / 64 + word, start % 64);
        let pair = u128::from(TWO_OVER_PI[index]) << 64 | u128::from(TWO_OVER_PI[index + 1]);
        pair << shift >> 64
    };
    let low = mantissa * window(2);
    let middle = mantissa * window(1) + (low >> 64);
    let high = mantissa * window(0) + (middle >> 64);

    // The low 192 bits of the product are the angle in right angles: 2 bits of quadrant, then the fraction.
    let top = high << 64 | middle & u128::from(u64::MAX);
    let fraction = top << 2 | (low & u128::from(u64::MAX)) >> 62;
    let quadrant = (top >> 126) as u64 + (fraction >> 127) as u64;
    let r = (fraction as i128) as f64 * TWO_POW_MINUS_128 * std::f64::consts::FRAC_PI_2;
    if angle < 0.0 { (-r, quadrant.wrapping_neg()) } else { (r, quadrant) }
}

const TWO_POW_MINUS_128: f64 = f64::from_bits((1023 - 128) << 52);

/// A zero word, then the first 1216 bits of 2/pi after the binary point.
const TWO_OVER_PI: [u64; 20] = [
    0,
    0xA2F9_836E_4E44_1529,
    0xFC27_57D1_F534_DDC0,
    0xDB62_9599_3C43_9041,
    0xFE51_63AB_DEBB_C561,
    0xB724_6E3A_424D_D2E0,
    0x0649_2EEA_09D1_921C,
    0xFE1D_EB1C_B129_A73E,
    0xE882_35F5_2EBB_4484,
    0xE99C_7026_B45F_7E41,
    0x3991_D639_8353_39F4,
    0x9C84_5F8B_BDF9_283B,
    0x1FF8_97FF_DE05_980F,
    0xEF2F_118B_5A0A_6D1F,
    0x6D36_7ECF_27CB_09B7,
    0x4F46_3F66_9E5F_EA2D,
    0x7527_BAC7_EBE5_F17B,
    0x3D07_39F7_8A52_92EA,
    0x6BFB_5FB1_1F8D_5D08,
    0x5603_3046_FC7B_6BAB,
];
