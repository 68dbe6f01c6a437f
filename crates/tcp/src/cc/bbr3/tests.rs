//! The vectors of algorithms.md §8.15.
