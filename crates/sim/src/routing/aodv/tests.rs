//! AODV agents that talk to one another without a medium.
