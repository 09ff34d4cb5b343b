//! Gradients as emitters use them.

use crate::kernels;

/// A Jacobian that is not finite.
pub(super) struct NotFinite;

/// Copies one Jacobian: rows of `dim` numbers, scaled to unit length if `normalise` says what is added to the length.
///
/// A gradient that is not finite leads nowhere: of such a Jacobian only zeros are kept.
pub(super) fn take_jacobian(
    jacobian: &[f64],
    dim: usize,
    normalise: Option<f64>,
    out: &mut [f64],
) -> Result<(), NotFinite> {
    if jacobian.iter().any(|entry| !entry.is_finite()) {
        out.fill(0.0);
        return Err(NotFinite);
    }
    out.copy_from_slice(jacobian);
    let Some(epsilon) = normalise else { return Ok(()) };
    for gradient in out.chunks_exact_mut(dim) {
        let length = kernels::norm(gradient) + epsilon;
        // A zero gradient without epsilon stays zero.
        if length > 0.0 {
            kernels::scale(gradient, 1.0 / length);
        }
    }
    Ok(())
}
