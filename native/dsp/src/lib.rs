//! Telephone audio to frames.
