//! Vectorised elementary functions.
