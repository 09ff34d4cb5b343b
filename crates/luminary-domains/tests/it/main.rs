//! What the domains promise, checked through the public interface.

mod constants;
mod gradients;
mod readme;
mod reference;
mod values;
