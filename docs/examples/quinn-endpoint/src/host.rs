//! What a connection is made of besides the stack: keys and IDs from the seed of the run, TLS with a fixed certificate, and logs that go to
//! the engine.

use std::ffi::c_void;
use std::fmt;
use std::io;
use std::sync::Arc;

use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::{ConnectionId, ConnectionIdGenerator};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, Error, KeyLog, SignatureScheme};

use crate::tonopah::{self, Host, Setup};

/// What the engine gives this end to call; only during calls, and there is one thread.
#[derive(Clone, Copy)]
pub struct Engine {
    functions: *const Host,
    host: *mut c_void,
    logs: u32,
}

// SAFETY: the stack wants writers and key logs that could move to another thread; here is only one.
unsafe impl Send for Engine {}
unsafe impl Sync for Engine {}

impl Engine {
    pub fn new(setup: &Setup) -> Engine {
        Engine { functions: setup.functions, host: setup.host, logs: setup.logs }
    }

    /// Whether this kind of log is wanted.
    pub fn wants(&self, kind: u32) -> bool {
        self.logs & (1 << kind) != 0
    }

    pub fn log(&self, kind: u32, text: &[u8]) {
        // SAFETY: the functions live as long as the end.
        unsafe { ((*self.functions).log)(self.host, kind, text.as_ptr().cast(), text.len() as u64) }
    }

    /// Random bytes from the seed of the run.
    pub fn random<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        // SAFETY: as for `log`.
        unsafe { ((*self.functions).random)(self.host, bytes.as_mut_ptr(), N as u64) }
        bytes
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the engine")
    }
}

/// The qlog of the stack.
impl io::Write for Engine {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.log(tonopah::LOG_QLOG, bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// In the format of SSLKEYLOGFILE, which Wireshark reads.
impl KeyLog for Engine {
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        self.log(tonopah::LOG_KEYS, format!("{label} {} {}\n", hex(client_random), hex(secret)).as_bytes());
    }

    fn will_log(&self, _: &str) -> bool {
        self.wants(tonopah::LOG_KEYS)
    }
}

/// Connection IDs from the seed of the run.
impl ConnectionIdGenerator for Engine {
    fn generate_cid(&mut self) -> ConnectionId {
        ConnectionId::new(&self.random::<8>())
    }

    fn cid_len(&self) -> usize {
        8
    }

    fn cid_lifetime(&self) -> Option<std::time::Duration> {
        None
    }
}

/// A client accepts any certificate.
impl ServerCertVerifier for Engine {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = default_provider().signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, &known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }
}

const ALPN: &[u8] = b"tonopah";
const TLS13: &[&rustls::SupportedProtocolVersion] = &[&rustls::version::TLS13];

/// TLS of a client.
pub fn tls_client(engine: Engine) -> QuicClientConfig {
    let builder = rustls::ClientConfig::builder_with_provider(Arc::new(default_provider()));
    let builder = builder.with_protocol_versions(TLS13).expect("ring has TLS 1.3");
    let mut config = builder.dangerous().with_custom_certificate_verifier(Arc::new(engine)).with_no_client_auth();
    config.alpn_protocols = vec![ALPN.to_vec()];
    config.key_log = Arc::new(engine);
    config.try_into().expect("the suite of QUIC's first packets")
}

/// TLS of a server. The signatures of Ed25519 all have one length.
pub fn tls_server(engine: Engine) -> QuicServerConfig {
    let certificate = CertificateDer::from_pem_slice(include_bytes!("certificate.pem")).expect("a certificate");
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("key.pem")).expect("its key");
    let builder = rustls::ServerConfig::builder_with_provider(Arc::new(default_provider()));
    let builder = builder.with_protocol_versions(TLS13).expect("ring has TLS 1.3").with_no_client_auth();
    let mut config = builder.with_single_cert(vec![certificate], key).expect("a certificate and its key");
    config.alpn_protocols = vec![ALPN.to_vec()];
    config.key_log = Arc::new(engine);
    config.try_into().expect("the suite of QUIC's first packets")
}
