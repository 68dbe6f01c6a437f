//! The parameters of HyStart and HyStart++.

use crate::cc::parameters::Param;

pub(in crate::cc) const ENABLED: Param = Param::flag("hystart", false)
    .doc("leave slow start when ACK spacing or RTT says the path is full")
    .source("Linux tcp_cubic, hystart = 1; RFC 9438 section 4.10 leaves it open");

pub(in crate::cc) const PLUS_PLUS: Param = Param::flag("hystart_plus_plus", false)
    .doc(
        "first slow start only: when the RTT rises, grow at a quarter of the pace for five rounds, then leave slow \
          start",
    )
    .source("RFC 9406");

pub(in crate::cc) const LOW_WINDOW: Param = Param::number("hystart_low_window", 0.0..=1e6, 16.0)
    .unit("segments")
    .doc("HyStart is active from this window on")
    .source("Linux tcp_cubic, hystart_low_window");

pub(in crate::cc) const ACK_DELTA: Param = Param::number("hystart_ack_delta", 0.0..=1e3, 2.0)
    .unit("ms")
    .doc("ACKs further apart than this are not one train")
    .source("Linux tcp_cubic, hystart_ack_delta_us");

pub(in crate::cc) const TRAIN: Param = Param::number("hystart_train", 0.0..=10.0, 0.5)
    .doc("share of the base delay after which a train of ACKs ends slow start; twice that if the connection paces")
    .source("Linux tcp_cubic; all of it in ns-3");

pub(in crate::cc) const RISE: Param = Param::number("hystart_rise", 0.0..=10.0, 0.125)
    .doc(
        "share of the base delay by which a round's minimum RTT must rise to end slow start; with hystart_plus_plus of \
         that of the round before, to slow it down",
    )
    .source("Linux tcp_cubic, HYSTART_DELAY_THRESH; all of it in ns-3; RFC 9406 section 4.3, 1 / MIN_RTT_DIVISOR");

pub(in crate::cc) const MIN_RISE: Param = Param::number("hystart_least_rise", 0.0..=1e3, 4.0)
    .unit("ms")
    .doc("the rise is never asked to be less")
    .source("Linux tcp_cubic, HYSTART_DELAY_MIN, since December 2014; RFC 9406 section 4.3, MIN_RTT_THRESH");

pub(in crate::cc) const MAX_RISE: Param = Param::number("hystart_most_rise", 0.0..=1e4, 16.0)
    .unit("ms")
    .doc("the rise is never asked to be more")
    .source("Linux tcp_cubic, HYSTART_DELAY_MAX, since December 2014; RFC 9406 section 4.3, MAX_RTT_THRESH");

pub(in crate::cc) const CUSHION: Param = Param::flag("hystart_cushion", true)
    .doc("a train may last longer by the delay that TSO may add to ACKs, at most 1 ms")
    .source("Linux tcp_cubic since 5.6, hystart_ack_delay");

pub(in crate::cc) const CLOCK: Param = Param::number("hystart_clock", 0.001..=100.0, 0.001)
    .unit("ms")
    .doc("tick of the clock; delays are kept in eighths of it")
    .source("Linux tcp_cubic: microseconds since 5.6, milliseconds before");

pub(in crate::cc) const FIRST_SAMPLES: Param = Param::flag("hystart_first_samples", false)
    .doc("a round's delay is the minimum of its first eight samples, instead of all so far")
    .source("Linux tcp_cubic before 5.6");

pub(in crate::cc) const CSS_GROWTH: Param = Param::number("css_growth", 1.0..=100.0, 4.0)
    .doc("share of slow start's pace at which the window grows once the RTT rises, as its reciprocal; with hystart_plus_plus")
    .source("RFC 9406 section 4.3, CSS_GROWTH_DIVISOR");

pub(in crate::cc) const CSS_ROUNDS: Param = Param::number("css_rounds", 1.0..=1000.0, 5.0)
    .unit("rounds")
    .doc("rounds at that pace, after which slow start ends; with hystart_plus_plus")
    .source("RFC 9406 section 4.3, CSS_ROUNDS");
