//! Call detection without I/O or a clock.
