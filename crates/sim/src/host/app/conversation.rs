//! Applications whose ends answer each other, as state machines: told what has happened, they say what is to be done. They
//! know no transport: `host/conversation.rs` carries out what they say.

use serde::Serialize;
use tcp::units::{Bytes, Span, Time};

use super::incast::{Incast, IncastSummary};
use super::page::{Page, PageSummary};
use super::request_response::{RequestResponse, RequestSummary};
use super::rtc::{Rtc, RtcSummary};
use super::transfer::{Transfer, TransferSummary};
use super::video::{Video, VideoSummary};
use super::voice::{Voice, VoiceSummary};
use crate::metrics::nearest_rank;

/// An end of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// At the node `from`.
    Source,
    /// At the node `to`.
    Sink,
}

/// The end that asks, where one asks and the other answers: data goes from `from` to `to`.
pub(super) const CLIENT: End = End::Sink;
/// The end that answers.
pub(super) const SERVER: End = End::Source;

/// What is to be done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Command {
    /// Open a connection of this number.
    Open(usize),
    /// Send a message, or a datagram.
    Send { connection: usize, end: End, bytes: Bytes },
    /// Close a connection once all that was sent has been taken.
    Close(usize),
    /// Say when this time has come.
    Wake(Time),
    /// Say once when the source of a connection has little left that it has not sent.
    TellRoom(usize),
}

/// What has happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Input {
    /// The flow starts.
    Start,
    /// The time of a `Wake` has come.
    Due,
    /// A connection is open, as its client sees it.
    Connected(usize),
    /// `reader` has read the last byte of a message.
    Message { connection: usize, reader: End },
    /// The source of a connection, of which this was asked, has little left to send.
    Room(usize),
    /// `reader` has received a datagram, the number `number` of those sent to it, from 0.
    Datagram { reader: End, number: u64, sent_at: Time },
}

/// A conversation.
#[derive(Debug)]
pub(crate) enum Conversation {
    Transfer(Transfer),
    RequestResponse(RequestResponse),
    Incast(Incast),
    Page(Page),
    Video(Video),
    Rtc(Rtc),
    Voice(Voice),
}

/// What an application measured.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum AppSummary {
    /// Of `transfer`.
    Transfer(TransferSummary),
    /// Of `request_response`.
    RequestResponse(RequestSummary),
    /// Of `incast`.
    Incast(IncastSummary),
    /// Of `page`.
    Page(PageSummary),
    /// Of `video`.
    Video(VideoSummary),
    /// Of `rtc`.
    Rtc(RtcSummary),
    /// Of `voice`.
    Voice(VoiceSummary),
}

/// What only its transport knows of a conversation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransportCounts {
    /// Retransmission time-outs of all its connections.
    pub(crate) timeouts: u64,
    /// Mean cwnd of the server when it began an answer.
    pub(crate) answer_cwnd_bytes: Option<f64>,
}

impl Conversation {
    /// Takes note of what has happened, and adds what is to be done.
    pub(crate) fn on(&mut self, now: Time, input: Input, commands: &mut Vec<Command>) {
        match self {
            Conversation::Transfer(transfer) => transfer.on(input, commands),
            Conversation::RequestResponse(requests) => requests.on(now, input, commands),
            Conversation::Incast(incast) => incast.on(now, input, commands),
            Conversation::Page(page) => page.on(now, input, commands),
            Conversation::Video(video) => video.on(now, input, commands),
            Conversation::Rtc(rtc) => rtc.on(now, input, commands),
            Conversation::Voice(voice) => voice.on(now, input, commands),
        }
    }

    /// True once there is nothing left to do.
    pub(crate) fn is_over(&self) -> bool {
        match self {
            Conversation::Transfer(transfer) => transfer.is_over(),
            Conversation::RequestResponse(requests) => requests.is_over(),
            Conversation::Incast(incast) => incast.is_over(),
            Conversation::Page(page) => page.is_over(),
            Conversation::Video(video) => video.is_over(),
            Conversation::Rtc(_) | Conversation::Voice(_) => false,
        }
    }

    /// What was measured from `warmup` on, at the end of the run.
    pub(crate) fn summary(&self, warmup: Time, now: Time, transport: TransportCounts) -> AppSummary {
        match self {
            Conversation::Transfer(transfer) => AppSummary::Transfer(transfer.summary()),
            Conversation::RequestResponse(requests) => AppSummary::RequestResponse(requests.summary(warmup, transport)),
            Conversation::Incast(incast) => AppSummary::Incast(incast.summary(warmup, transport)),
            Conversation::Page(page) => AppSummary::Page(page.summary()),
            Conversation::Video(video) => AppSummary::Video(video.summary(now)),
            Conversation::Rtc(rtc) => AppSummary::Rtc(rtc.summary(warmup, now)),
            Conversation::Voice(voice) => AppSummary::Voice(voice.summary(warmup, now)),
        }
    }

    /// Of a video under way: what is in the buffer, and the level of the last chunk.
    pub(crate) fn player(&self, now: Time) -> Option<(Span, usize)> {
        match self {
            Conversation::Video(video) if !video.is_over() => video.sample(now),
            _ => None,
        }
    }

    /// Memory that its records take.
    pub(crate) fn held_bytes(&self) -> u64 {
        match self {
            Conversation::Transfer(_) | Conversation::Page(_) | Conversation::Video(_) => 0,
            Conversation::Rtc(rtc) => rtc.held_bytes(),
            Conversation::RequestResponse(requests) => requests.times().held_bytes(),
            Conversation::Incast(incast) => incast.times().held_bytes(),
            Conversation::Voice(voice) => voice.held_bytes(),
        }
    }
}

/// Things that take time: when each began, and how long it took.
#[derive(Clone, Debug, Default)]
pub(crate) struct Durations(Vec<(Time, f64)>);

impl Durations {
    pub(super) fn add(&mut self, began: Time, now: Time) {
        self.0.push((began, now.since(began).as_secs_f64()));
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// In ascending order, those that began at `warmup` or later.
    pub(super) fn sorted_since(&self, warmup: Time) -> Vec<f64> {
        let mut seconds: Vec<f64> = self.0.iter().filter(|(began, _)| *began >= warmup).map(|(_, s)| *s).collect();
        seconds.sort_unstable_by(f64::total_cmp);
        seconds
    }

    fn held_bytes(&self) -> u64 {
        (self.0.capacity() * size_of::<(Time, f64)>()) as u64
    }
}

/// A quantile that needs at least `least` values to be worth showing.
pub(super) fn quantile(sorted: &[f64], q: f64, least: usize) -> Option<f64> {
    if sorted.len() >= least { nearest_rank(sorted, q) } else { None }
}

/// The mean of sorted values.
pub(super) fn mean(sorted: &[f64]) -> Option<f64> {
    (!sorted.is_empty()).then(|| sorted.iter().sum::<f64>() / sorted.len() as f64)
}
