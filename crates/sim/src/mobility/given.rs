//! Given trajectories: waypoints, and `setdest` commands.

use tcp::units::Time;

use super::Model;
use super::leg::{Leg, NEVER, Point};
use crate::scenario::{SetdestOrder, Waypoint};

/// From waypoint to waypoint, each reached at its time; with `jump` the node rests until then. Times do not decrease.
pub(super) fn waypoints(points: &[Waypoint], position: Point) -> (Leg, Model) {
    let (mut here, mut now) = (position, Time::ZERO);
    let mut legs = Vec::with_capacity(points.len() + 1);
    for point in points {
        let (there, at) = (Point { x: point.x, y: point.y, z: point.z.unwrap_or(here.z) }, Time::ZERO + point.at);
        legs.push(if point.jump { Leg::rest(now, at, here) } else { Leg::between(now, at, here, there) });
        (here, now) = (there, at);
    }
    legs.push(Leg::rest(now, NEVER, here));
    in_order(legs)
}

/// Straight to the destination of the last command, unless a new one interrupts it. The height is constant. Times do
/// not decrease.
pub(super) fn orders(orders: &[SetdestOrder], position: Point) -> (Leg, Model) {
    let first = orders.first().map_or(NEVER, |order| Time::ZERO + order.at);
    let mut legs = vec![Leg::rest(Time::ZERO, first, position)];
    let mut here = position;
    for (index, order) in orders.iter().enumerate() {
        let now = Time::ZERO + order.at;
        let next = orders.get(index + 1).map_or(NEVER, |order| Time::ZERO + order.at);
        let there = Point { x: order.x, y: order.y, z: here.z };
        // At speed zero a node stays.
        let there = if order.speed.0 > 0.0 { there } else { here };
        let leg = Leg::at_speed(now, here, there, order.speed.0).cut(next);
        here = leg.end;
        legs.extend([leg, Leg::rest(leg.until, next, here)]);
    }
    in_order(legs)
}

/// The first leg, and the others in reverse order, to be popped.
fn in_order(mut legs: Vec<Leg>) -> (Leg, Model) {
    legs.reverse();
    let first = legs.pop().expect("a node is somewhere at first");
    (first, Model::Given(legs))
}
