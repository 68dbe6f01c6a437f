//! What an algorithm that stands around another, `inside`, leaves to it, during a start and after one.

/// The methods of [`CongestionControl`](crate::cc::CongestionControl) that go straight to `self.inside`.
macro_rules! passed_on {
    () => {
        fn on_lost(&mut self, lost: &$crate::cc::Lost, view: &$crate::cc::View) {
            self.inside.on_lost(lost, view);
        }

        fn next_timer(&self) -> Option<$crate::units::Time> {
            self.inside.next_timer()
        }

        fn agent(&mut self) -> Option<&mut dyn $crate::compat::AgentSignals> {
            self.inside.agent()
        }

        fn wants_reduction(&self) -> bool {
            self.inside.wants_reduction()
        }

        fn is_strict(&self) -> bool {
            self.inside.is_strict()
        }

        fn spares_marks(&self) -> bool {
            self.inside.spares_marks()
        }

        fn send_quantum(&self) -> Option<$crate::units::Bytes> {
            self.inside.send_quantum()
        }
    };
}

pub(super) use passed_on;
