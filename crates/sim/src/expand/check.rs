//! Checks of values that an expanded scenario has unchanged. Each error names the field as the user wrote it.

use tcp::units::Bytes;

use super::bounds::{check_period, probability};
use super::check_app::{
    check_incast, check_page, check_request_response, check_responsiveness, check_rtc, check_script, check_transfer,
    check_video, check_voice,
};
use super::check_effects::check_effects;
use super::check_queue::check_queue;
use super::check_service::{check_changes, check_service};
use super::place::check_framing;
use crate::scenario::{
    AppDef, CbrDef, DatagramKeys, EcnRewrite, GilbertElliottLoss, LinkOptions, LossModel, MarkModel, PacketLoss,
    PacketRate, ScenarioError, TransportDef, join,
};

/// Checks the options of a link.
pub(super) fn check_link(options: &LinkOptions, path: &str) -> Result<(), ScenarioError> {
    let fail = |field: &str, message: String| Err(ScenarioError::new(join(path, field), message));
    if let Some(queue) = &options.queue {
        check_queue(queue, &join(path, "queue"))?;
    }
    if let Some(loss) = &options.loss {
        check_loss(loss, &join(path, "loss"))?;
    }
    if let Some(marks) = &options.marks {
        check_marks(marks, &join(path, "marks"))?;
    }
    if let Some(ecn) = &options.ecn {
        check_ecn(ecn, &join(path, "ecn"))?;
    }
    if options.overhead.is_some_and(|overhead| overhead > Bytes(1000)) {
        return fail("overhead", "is not a framing of up to 1000B".into());
    }
    if let Some(framing) = &options.framing {
        check_framing(framing, &join(path, "framing"))?;
        if options.overhead.is_some() {
            return fail("framing", "stands beside overhead; give one of them".into());
        }
    }
    check_changes(options, path)?;
    check_service(options, path)?;
    check_effects(options, path)?;
    match &options.reverse {
        Some(reverse) if reverse.preset.is_some() => {
            fail("reverse.preset", "a preset has both directions; give it to the link".into())
        }
        Some(reverse) if reverse.reverse.is_some() => fail("reverse.reverse", "a link has two directions only".into()),
        Some(reverse) if !reverse.changes.is_empty() || reverse.repeat.is_some() => {
            fail("reverse.changes", "changes act on both directions; give them to the link".into())
        }
        Some(reverse) => check_link(reverse, &join(path, "reverse")),
        None => Ok(()),
    }
}

fn check_loss(loss: &LossModel, path: &str) -> Result<(), ScenarioError> {
    match loss {
        LossModel::None(_) | LossModel::Nth(_) => Ok(()),
        LossModel::Packet(packet) => check_packets(packet, path),
        LossModel::Bit(bit) => probability(path, "ber", bit.ber),
        LossModel::Byte(byte) => probability(path, "rate", byte.rate),
        LossModel::GilbertElliott(model) => check_gilbert_elliott(model, path),
    }
}

fn check_marks(marks: &MarkModel, path: &str) -> Result<(), ScenarioError> {
    match marks {
        MarkModel::Packet(packet) => check_packets(packet, path),
        MarkModel::GilbertElliott(model) => check_gilbert_elliott(model, path),
        MarkModel::Nth(_) => Ok(()),
    }
}

fn check_packets(packet: &PacketLoss, path: &str) -> Result<(), ScenarioError> {
    probability(path, "p", packet.p)?;
    probability(path, "correlation", packet.correlation)
}

fn check_gilbert_elliott(model: &GilbertElliottLoss, path: &str) -> Result<(), ScenarioError> {
    probability(path, "good_to_bad", model.good_to_bad)?;
    probability(path, "bad_to_good", model.bad_to_good)?;
    probability(path, "loss_good", model.loss_good)?;
    probability(path, "loss_bad", model.loss_bad)
}

fn check_ecn(ecn: &EcnRewrite, path: &str) -> Result<(), ScenarioError> {
    match ecn.share() {
        Some(p) => probability(path, "p", p),
        None => Ok(()),
    }
}

/// Payload of a message that is sent in one piece; nothing if an application sends a stream.
pub(super) fn message_size(app: &AppDef) -> Option<Bytes> {
    match app {
        AppDef::Bulk(_)
        | AppDef::Transfer(_)
        | AppDef::RequestResponse(_)
        | AppDef::Incast(_)
        | AppDef::Page(_)
        | AppDef::Responsiveness(_)
        | AppDef::Video(_)
        | AppDef::Script(_) => None,
        AppDef::Rtc(rtc) => Some(rtc.packet),
        AppDef::Voice(voice) => Some(voice.datagram_size()),
        AppDef::Cbr(cbr) => Some(cbr.size),
        AppDef::OnOff(on_off) => Some(on_off.size),
    }
}

/// Checks an application.
pub(crate) fn check_app(app: &AppDef, path: &str) -> Result<(), ScenarioError> {
    let fail = |field: &str, message: String| Err(ScenarioError::new(join(path, field), message));
    let (rate, size, transport) = match app {
        AppDef::Bulk(bulk) => {
            let empty = bulk.bytes == Some(Bytes::ZERO);
            return if empty { fail("bytes", "0B is nothing to send; at least 1B".into()) } else { Ok(()) };
        }
        AppDef::Transfer(transfer) => return check_transfer(transfer, path),
        AppDef::RequestResponse(requests) => return check_request_response(requests, path),
        AppDef::Incast(incast) => return check_incast(incast, path),
        AppDef::Page(page) => return check_page(page, path),
        AppDef::Responsiveness(own) => return check_responsiveness(own, path),
        AppDef::Video(video) => return check_video(video, path),
        AppDef::Rtc(rtc) => return check_rtc(rtc, path),
        AppDef::Voice(voice) => return check_voice(voice, path),
        AppDef::Script(script) => return check_script(script, path),
        AppDef::Cbr(cbr) => {
            check_phases(cbr, path)?;
            (cbr.rate, cbr.size, cbr.transport)
        }
        AppDef::OnOff(on_off) => {
            check_period(&on_off.on, &join(path, "on"))?;
            check_period(&on_off.off, &join(path, "off"))?;
            (on_off.rate, on_off.size, on_off.transport)
        }
    };
    let DatagramKeys { ecn, dscp } = app.datagrams();
    let given = [("ecn", ecn.is_some()), ("dscp", dscp.is_some())].into_iter().find(|(_, is_given)| *is_given);
    if let (TransportDef::Tcp, Some((key, _))) = (transport, given) {
        let error = ScenarioError::new(join(path, key), "is a key of datagrams, and this application sends over TCP");
        return Err(error.with_hint(format!("give transport = \"udp\", or {key} to the flow (`tcp.ecn`, `dscp`)")));
    }
    let largest = if transport == TransportDef::Udp { Bytes(65_507) } else { Bytes(1 << 30) };
    if size == Bytes::ZERO || size > largest {
        return fail("size", format!("{size} is not a message from 1B to {largest}"));
    }
    if interval_nanos(rate, size) < 1.0 {
        return fail("rate", format!("{rate} means more than one message of {size} per nanosecond"));
    }
    Ok(())
}

fn check_phases(cbr: &CbrDef, path: &str) -> Result<(), ScenarioError> {
    for (index, phase) in cbr.phases.iter().enumerate() {
        let place = join(path, &format!("phases[{index}]"));
        if index > 0 && phase.at <= cbr.phases[index - 1].at {
            let message = format!("{} is not after the phase before", phase.at);
            return Err(ScenarioError::new(join(&place, "at"), message));
        }
        if let Some(rate) = phase.rate.filter(|rate| interval_nanos(*rate, cbr.size) < 1.0) {
            let message = format!("{rate} means more than one message of {} per nanosecond", cbr.size);
            return Err(ScenarioError::new(join(&place, "rate"), message));
        }
    }
    Ok(())
}

/// Distance of messages in nanoseconds.
pub(crate) fn interval_nanos(rate: PacketRate, size: Bytes) -> f64 {
    match rate {
        PacketRate::Packets(per_second) => 1e9 / per_second,
        PacketRate::Bits(rate) => size.as_f64() * 8e9 / rate.as_bps() as f64,
    }
}

/// What carries an application's data.
pub(crate) fn transport_of(app: &AppDef) -> TransportDef {
    match app {
        AppDef::Bulk(_)
        | AppDef::Transfer(_)
        | AppDef::RequestResponse(_)
        | AppDef::Incast(_)
        | AppDef::Page(_)
        | AppDef::Responsiveness(_)
        | AppDef::Video(_)
        | AppDef::Script(_) => TransportDef::Tcp,
        AppDef::Rtc(_) | AppDef::Voice(_) => TransportDef::Udp,
        AppDef::Cbr(cbr) => cbr.transport,
        AppDef::OnOff(on_off) => on_off.transport,
    }
}
