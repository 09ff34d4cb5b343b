//! What the domains promise, checked through the public interface.

mod constants;
mod gradients;
mod reference;
mod values;
