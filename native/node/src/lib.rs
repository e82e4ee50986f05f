//! Node-API addon over `tonegate-detect`.
