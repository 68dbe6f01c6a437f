//! Random streams by name: xoshiro256++ (Blackman, Vigna 2019), one generator per (run seed, purpose).
//!
//! A stream depends only on the run's seed and its own name, so adding a flow does not shift another flow's draws and
//! the same seed gives the same losses under every algorithm. Distributions are fixed algorithms on `libm`, hence the
//! same bits on every machine.

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Rng {
    s: [u64; 4],
}

/// One step of SplitMix64 (Steele, Lea, Flood 2014), which fills the state from a seed.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Rng {
    /// The stream called `name` in the run with this seed, such as `"link/3/loss"`.
    pub fn stream(run_seed: u64, name: &str) -> Rng {
        // FNV-1a of the name, mixed with the seed.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in name.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        let mut state = run_seed;
        let mut mixed = split_mix(&mut state) ^ hash;
        Rng { s: std::array::from_fn(|_| split_mix(&mut mixed)) }
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.s;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Uniform in [0, 1), 53 bits.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Uniform in 0..bound without bias (Lemire 2019).
    ///
    /// # Panics
    ///
    /// If `bound` is zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "a uniform draw needs at least one value");
        loop {
            let product = u128::from(self.next_u64()) * u128::from(bound);
            if product as u64 >= bound.wrapping_neg() % bound {
                return (product >> 64) as u64;
            }
        }
    }

    /// True with probability `p`. Draws nothing for p <= 0 or p >= 1.
    pub fn chance(&mut self, p: f64) -> bool {
        p >= 1.0 || (p > 0.0 && self.uniform() < p)
    }

    /// Exponential with the given mean (inversion).
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.uniform())
    }

    /// Standard normal (Box, Muller 1958); two uniform draws each time, so that draws can be counted.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * libm::log(1.0 - self.uniform())).sqrt();
        radius * libm::cos(std::f64::consts::TAU * self.uniform())
    }

    /// Pareto with the given shape (> 1) and mean (inversion).
    pub fn pareto(&mut self, shape: f64, mean: f64) -> f64 {
        let scale = mean * (shape - 1.0) / shape;
        scale / libm::pow(1.0 - self.uniform(), 1.0 / shape)
    }

    /// A random order of `items` (Fisher-Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_output_of_xoshiro256_plus_plus() {
        // First outputs for the state {1, 2, 3, 4}, from the generator's published definition.
        let mut rng = Rng { s: [1, 2, 3, 4] };
        let first: Vec<u64> = (0..4).map(|_| rng.next_u64()).collect();
        assert_eq!(first, [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386]);
    }

    #[test]
    fn streams_differ_by_name_and_by_seed() {
        let draw = |seed, name| Rng::stream(seed, name).next_u64();
        assert_eq!(draw(1, "link/3/loss"), draw(1, "link/3/loss"));
        assert_ne!(draw(1, "link/3/loss"), draw(1, "link/4/loss"));
        assert_ne!(draw(1, "link/3/loss"), draw(2, "link/3/loss"));
    }

    #[test]
    fn moments_are_within_five_standard_errors() {
        let mut rng = Rng::stream(7, "test");
        let n = 200_000;
        let mean = |f: &mut dyn FnMut() -> f64| (0..n).map(|_| f()).sum::<f64>() / n as f64;
        let error = 5.0 / f64::sqrt(n as f64);
        assert!((mean(&mut || rng.uniform()) - 0.5).abs() < error * f64::sqrt(1.0 / 12.0));
        assert!((mean(&mut || rng.exponential(3.0)) - 3.0).abs() < error * 3.0);
        assert!((mean(&mut || rng.below(10) as f64) - 4.5).abs() < error * f64::sqrt(99.0 / 12.0));
        assert!(mean(&mut || rng.normal()).abs() < error);
        // The square of a standard normal has variance 2.
        assert!((mean(&mut || rng.normal().powi(2)) - 1.0).abs() < error * f64::sqrt(2.0));
        // Pareto with shape 4 and mean 2: variance = mean^2 / (shape (shape - 2)) = 0.5.
        assert!((mean(&mut || rng.pareto(4.0, 2.0)) - 2.0).abs() < error * f64::sqrt(0.5));
    }
}
