//! Constellations that carry packets.
