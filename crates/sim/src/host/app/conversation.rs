//! Applications whose ends answer each other, as state machines: told what has happened, they say what is to be done. They
//! know no transport: `host/conversation.rs` carries out what they say.

use serde::Serialize;
use tcp::units::{Span, Time};

use super::command::{Command, Input, TransportCounts};
use super::incast::{Incast, IncastSummary};
use super::page::{Page, PageSummary};
use super::request_response::{RequestResponse, RequestSummary};
use super::responsiveness::{Responsiveness, ResponsivenessSummary};
use super::rtc::{Rtc, RtcSummary};
use super::transfer::{Transfer, TransferSummary};
use super::video::{Video, VideoSummary};
use super::voice::{Voice, VoiceSummary};

/// A conversation.
#[derive(Debug)]
pub(crate) enum Conversation {
    Transfer(Transfer),
    RequestResponse(RequestResponse),
    Incast(Incast),
    Page(Page),
    Video(Video),
    Responsiveness(Responsiveness),
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
    /// Of `responsiveness`.
    Responsiveness(ResponsivenessSummary),
    /// Of `rtc`.
    Rtc(RtcSummary),
    /// Of `voice`.
    Voice(VoiceSummary),
}

impl AppSummary {
    /// This one, of an application whose connections are streams of one.
    pub(crate) fn over_one_connection(mut self) -> AppSummary {
        let opened = match &mut self {
            AppSummary::RequestResponse(RequestSummary { connections_opened, .. })
            | AppSummary::Page(PageSummary { connections_opened, .. }) => connections_opened,
            _ => return self,
        };
        *opened = 1.min(*opened);
        self
    }
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
            Conversation::Responsiveness(own) => own.on(now, input, commands),
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
            Conversation::Responsiveness(_) | Conversation::Rtc(_) | Conversation::Voice(_) => false,
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
            Conversation::Responsiveness(own) => AppSummary::Responsiveness(own.summary(warmup, now)),
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

    /// Of a video: the chunks that have arrived, from a number on, with when, the throughput measured, and the level.
    pub(crate) fn chunks(&self, from: usize) -> impl Iterator<Item = (Time, f64, usize)> + '_ {
        let video = if let Conversation::Video(video) = self { Some(video) } else { None };
        video.into_iter().flat_map(move |video| video.chunks(from))
    }

    /// Memory that its records take.
    pub(crate) fn held_bytes(&self) -> u64 {
        match self {
            Conversation::Transfer(_) | Conversation::Page(_) | Conversation::Video(_) => 0,
            Conversation::Responsiveness(own) => own.held_bytes(),
            Conversation::Rtc(rtc) => rtc.held_bytes(),
            Conversation::RequestResponse(requests) => requests.times().held_bytes(),
            Conversation::Incast(incast) => incast.times().held_bytes(),
            Conversation::Voice(voice) => voice.held_bytes(),
        }
    }
}
