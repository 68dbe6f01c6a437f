//! stub
use crate::config::EcnMode;
use crate::segment::Segment;
use crate::units::Bytes;
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Marks {
    pub(crate) echo: bool,
    pub(crate) ce: Bytes,
}
#[derive(Clone, Debug)]
pub(crate) struct Feedback;
impl Feedback {
    pub(crate) fn new(_mode: EcnMode) -> Feedback {
        Feedback
    }
    pub(crate) fn on_ack(&mut self, _s: &Segment, _d: Bytes, _m: Bytes) -> Marks {
        Marks::default()
    }
}
