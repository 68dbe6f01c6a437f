//! Vectors of networks.md §9.1.
