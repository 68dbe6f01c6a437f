//! The option `crypto = "none"`: a session of QUIC without cryptography. Keys change nothing, the tag of a packet is 16 bytes of zero, and
//! the four messages of the handshake are as long as those of TLS and carry nothing but the transport parameters.

use std::any::Any;
use std::io::Cursor;
use std::sync::Arc;

use bytes::BytesMut;
use quinn_proto::crypto::{
    ClientConfig, CryptoError, ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey, ServerConfig, Session,
    UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError, TransportErrorCode};

/// Lengths of the messages of TLS 1.3 with one Ed25519 certificate: ClientHello, ServerHello, what the server says in its Handshake
/// packets, and the client's Finished.
const MESSAGES: [usize; 4] = [280, 122, 1000, 36];
/// The side that sends each.
const SENDERS: [Side; 4] = [Side::Client, Side::Server, Side::Server, Side::Client];
const TAG: usize = 16;

/// Both configurations of a session.
pub struct Plain;

/// Keys that change nothing.
struct Nothing;

struct PlainSession {
    side: Side,
    params: Vec<u8>,
    /// Which message is the next, and what has arrived of it.
    next: usize,
    arrived: Vec<u8>,
    /// The keys that the last message has brought.
    keys: bool,
    peer: Vec<u8>,
}

impl PlainSession {
    fn new(side: Side, params: &TransportParameters) -> Box<PlainSession> {
        let mut written = Vec::new();
        params.write(&mut written);
        Box::new(PlainSession { side, params: written, next: 0, arrived: Vec::new(), keys: false, peer: Vec::new() })
    }

    /// Messages 0 and 2 carry parameters.
    fn message(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        if self.next % 2 == 0 {
            bytes.extend((self.params.len() as u16).to_be_bytes());
            bytes.extend(&self.params);
        }
        bytes.resize(MESSAGES[self.next], 0);
        bytes
    }

    /// The keys of Handshake packets follow message 1, those of 1-RTT packets message 2.
    fn passed(&mut self) {
        self.keys = self.next == 1 || self.next == 2;
        self.next += 1;
    }
}

fn pair<T: ?Sized>(make: impl Fn() -> Box<T>) -> KeyPair<Box<T>> {
    KeyPair { local: make(), remote: make() }
}

fn keys() -> Keys {
    Keys {
        header: pair(|| Box::new(Nothing) as Box<dyn HeaderKey>),
        packet: pair(|| Box::new(Nothing) as Box<dyn PacketKey>),
    }
}

impl Session for PlainSession {
    fn initial_keys(&self, _: &ConnectionId, _: Side) -> Keys {
        keys()
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        None
    }

    fn is_handshaking(&self) -> bool {
        self.next < MESSAGES.len()
    }

    fn read_handshake(&mut self, bytes: &[u8]) -> Result<bool, TransportError> {
        self.arrived.extend(bytes);
        while self.is_handshaking() && SENDERS[self.next] != self.side && self.arrived.len() >= MESSAGES[self.next] {
            let message: Vec<u8> = self.arrived.drain(..MESSAGES[self.next]).collect();
            if self.next % 2 == 0 {
                let length = usize::from(u16::from_be_bytes([message[0], message[1]]));
                let params = message.get(2..2 + length).ok_or(TransportErrorCode::PROTOCOL_VIOLATION)?;
                self.peer = params.to_vec();
            }
            self.passed();
            // What belongs to the next keys comes with them.
            if self.keys {
                break;
            }
        }
        Ok(false)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        if self.peer.is_empty() {
            return Ok(None);
        }
        Ok(Some(TransportParameters::read(self.side, &mut Cursor::new(&self.peer))?))
    }

    fn write_handshake(&mut self, out: &mut Vec<u8>) -> Option<Keys> {
        if std::mem::take(&mut self.keys) {
            // The client's last message is the last in Handshake packets.
            if self.next == 3 && self.side == Side::Client {
                out.extend(self.message());
                self.next += 1;
            }
            return Some(keys());
        }
        if self.is_handshaking() && SENDERS[self.next] == self.side {
            out.extend(self.message());
            self.passed();
            // The server's messages bring the keys of what follows them.
            return std::mem::take(&mut self.keys).then(keys);
        }
        None
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(keys().packet)
    }

    fn is_valid_retry(&self, _: &ConnectionId, _: &[u8], _: &[u8]) -> bool {
        true
    }

    fn export_keying_material(&self, _: &mut [u8], _: &[u8], _: &[u8]) -> Result<(), ExportKeyingMaterialError> {
        Err(ExportKeyingMaterialError)
    }
}

impl ClientConfig for Plain {
    fn start_session(
        self: Arc<Self>,
        _: u32,
        _: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(PlainSession::new(Side::Client, params))
    }
}

impl ServerConfig for Plain {
    fn initial_keys(&self, _: u32, _: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys())
    }

    fn retry_tag(&self, _: u32, _: &ConnectionId, _: &[u8]) -> [u8; TAG] {
        [0; TAG]
    }

    fn start_session(self: Arc<Self>, _: u32, params: &TransportParameters) -> Box<dyn Session> {
        PlainSession::new(Side::Server, params)
    }
}

impl HeaderKey for Nothing {
    fn decrypt(&self, _: usize, _: &mut [u8]) {}

    fn encrypt(&self, _: usize, _: &mut [u8]) {}

    fn sample_size(&self) -> usize {
        16
    }
}

impl PacketKey for Nothing {
    fn encrypt(&self, _: u64, packet: &mut [u8], _: usize) {
        let tag = packet.len() - TAG;
        packet[tag..].fill(0);
    }

    fn decrypt(&self, _: u64, _: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        let length = payload.len().checked_sub(TAG).ok_or(CryptoError)?;
        if payload[length..].iter().any(|byte| *byte != 0) {
            return Err(CryptoError);
        }
        payload.truncate(length);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        TAG
    }

    fn confidentiality_limit(&self) -> u64 {
        u64::MAX
    }

    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}
