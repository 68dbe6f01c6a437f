//! Times until something, of which some are only known to be longer: what had not finished lasted at least as long as it did.

/// The product-limit estimate (E. L. Kaplan, P. Meier, J. Am. Statist. Assoc. 53, 1958, 457-481) of the distribution of times.
pub(crate) struct ProductLimit {
    /// Times at which something ended, in order, each with its number and the share that lasts longer.
    steps: Vec<(f64, u64, f64)>,
    /// Times that are only known to be longer, in order.
    longer: Vec<f64>,
}

impl ProductLimit {
    /// From the times that ended, in order, each with its number, and those that are only known to be longer.
    pub(crate) fn of(ended: &[(f64, u64)], mut longer: Vec<f64>) -> ProductLimit {
        longer.sort_unstable_by(f64::total_cmp);
        let mut left = ended.iter().map(|(_, count)| count).sum::<u64>() + longer.len() as u64;
        let (mut surviving, mut gone) = (1.0, 0);
        let mut steps = Vec::with_capacity(ended.len());
        for &(time, count) in ended {
            // What lasted exactly as long was there when this ended.
            let before = longer[gone..].partition_point(|lasted| *lasted < time);
            gone += before;
            left -= before as u64;
            surviving *= (left - count) as f64 / left as f64;
            left -= count;
            steps.push((time, count, surviving));
        }
        ProductLimit { steps, longer }
    }

    /// The longest time, ended or not: the estimate says nothing of what lasts longer.
    fn longest(&self) -> f64 {
        self.steps.last().map_or(0.0, |(time, ..)| *time).max(self.longer.last().copied().unwrap_or(0.0))
    }

    /// The time that the share `q` does not exceed. Where `q` is above the share that is known, a lower bound: as if all had ended
    /// when they were last seen.
    pub(crate) fn quantile(&self, q: f64) -> f64 {
        if q <= self.known() + 1e-12 {
            // Products of quotients differ from q by rounding.
            let found = self.steps.iter().find(|(.., surviving)| 1.0 - surviving >= q - 1e-12);
            return found.map_or(self.longest(), |(time, ..)| *time);
        }
        let mut all: Vec<(f64, u64)> = self.steps.iter().map(|(time, count, _)| (*time, *count)).collect();
        all.extend(self.longer.iter().map(|time| (*time, 1)));
        all.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let total: u64 = all.iter().map(|(_, count)| count).sum();
        let (rank, mut seen) = (libm::ceil(q * total as f64 - 1e-9) as u64, 0);
        let found = all.iter().find(|(_, count)| {
            seen += count;
            seen >= rank
        });
        found.map_or(self.longest(), |(time, _)| *time)
    }

    /// The mean of the times, what lasts longer than the longest counted with the longest (restricted mean).
    pub(crate) fn mean(&self) -> f64 {
        let (mut sum, mut since, mut surviving) = (0.0, 0.0, 1.0);
        for &(time, _, left) in &self.steps {
            sum += surviving * (time - since);
            (since, surviving) = (time, left);
        }
        sum + surviving * (self.longest() - since)
    }

    /// The share whose time is known: of what ended. More cannot be said where what comes later takes longer, as in overload.
    pub(crate) fn known(&self) -> f64 {
        let ended: u64 = self.steps.iter().map(|(_, count, _)| count).sum();
        ended as f64 / (ended + self.longer.len() as u64).max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Remission times of 21 patients (Freireich et al. 1963), the example of most textbooks; the estimate at 23 weeks is 0.448.
    #[test]
    fn the_estimate_is_that_of_the_textbook_and_a_lower_bound_beyond_what_ended() {
        let ended = [(6.0, 3), (7.0, 1), (10.0, 1), (13.0, 1), (16.0, 1), (22.0, 1), (23.0, 1)];
        let longer = vec![6.0, 9.0, 10.0, 11.0, 17.0, 19.0, 20.0, 25.0, 32.0, 32.0, 34.0, 35.0];
        let found = ProductLimit::of(&ended, longer);
        let surviving: Vec<f64> = found.steps.iter().map(|(.., left)| (left * 1000.0).round() / 1000.0).collect();
        assert_eq!(surviving, [0.857, 0.807, 0.753, 0.690, 0.627, 0.538, 0.448]);
        assert!((found.known() - 9.0 / 21.0).abs() < 1e-12);
        // A quarter had a relapse within 13 weeks; half of the patients, as far as they were seen, within 16 at least, and 32 is the 19th of 21.
        assert_eq!((found.quantile(0.25), found.quantile(0.5), found.quantile(0.9)), (13.0, 16.0, 32.0));
    }

    #[test]
    fn without_unfinished_ones_it_is_the_plain_mean_and_the_nearest_rank() {
        let found = ProductLimit::of(&[(1.0, 1), (2.0, 1), (3.0, 2), (10.0, 1)], Vec::new());
        assert!((found.mean() - 3.8).abs() < 1e-12);
        assert_eq!([0.2, 0.4, 0.41, 0.8, 0.81].map(|q| found.quantile(q)), [1.0, 2.0, 3.0, 3.0, 10.0]);
        assert_eq!(found.known(), 1.0);
    }

    #[test]
    fn where_nothing_ends_all_is_longer() {
        let found = ProductLimit::of(&[], vec![4.0, 2.0]);
        assert_eq!((found.known(), found.quantile(0.01), found.quantile(0.99), found.mean()), (0.0, 2.0, 4.0, 4.0));
    }
}
