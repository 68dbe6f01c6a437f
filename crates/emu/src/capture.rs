//! What a host sends and receives, as a pcapng file (draft-ietf-opsawg-pcapng) of raw IP packets.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use tcp::units::Time;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
/// LINKTYPE_RAW: IPv4 or IPv6 by their version.
const RAW: u16 = 101;
/// Option `if_tsresol`: nanoseconds.
const RESOLUTION: [u8; 8] = [9, 0, 1, 0, 9, 0, 0, 0];
const END_OF_OPTIONS: [u8; 4] = [0; 4];

/// A file under way.
#[derive(Debug)]
pub struct Capture {
    file: BufWriter<File>,
    /// What the clock of the day showed at time 0, in nanoseconds.
    epoch: u64,
}

impl Capture {
    /// Begins a file.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn new(file: File, epoch: u64) -> io::Result<Capture> {
        let mut capture = Capture { file: BufWriter::new(file), epoch };
        let mut section = 0x1a2b_3c4d_u32.to_le_bytes().to_vec();
        section.extend([1, 0, 0, 0]);
        section.extend([0xff; 8]);
        capture.block(SECTION_HEADER, &section, &[])?;
        let mut interface = RAW.to_le_bytes().to_vec();
        interface.extend([0; 6]);
        interface.extend(RESOLUTION);
        interface.extend(END_OF_OPTIONS);
        capture.block(INTERFACE, &interface, &[])?;
        Ok(capture)
    }

    /// Writes a packet.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn write(&mut self, at: Time, packet: &[u8]) -> io::Result<()> {
        let stamp = self.epoch + at.as_nanos();
        let length = packet.len() as u32;
        let fields = [0, (stamp >> 32) as u32, stamp as u32, length, length];
        let mut head = [0; 20];
        for (place, field) in head.chunks_exact_mut(4).zip(fields) {
            place.copy_from_slice(&field.to_le_bytes());
        }
        self.block(ENHANCED_PACKET, &head, packet)
    }

    /// Writes what is left.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.file.flush()
    }

    fn block(&mut self, kind: u32, head: &[u8], data: &[u8]) -> io::Result<()> {
        let padding = data.len().next_multiple_of(4) - data.len();
        let length = (12 + head.len() + data.len() + padding) as u32;
        for part in
            [&kind.to_le_bytes()[..], &length.to_le_bytes(), head, data, &[0; 3][..padding], &length.to_le_bytes()]
        {
            self.file.write_all(part)?;
        }
        Ok(())
    }
}
