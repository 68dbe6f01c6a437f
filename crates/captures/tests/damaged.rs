//! Files cut anywhere, and with any byte changed: a sentence or packets, the same however the file is divided.

use captures::{Packet, Reader, Wanted};

/// A segment of four bytes from 10.0.0.1 behind VLAN tag, GRE and an IPv6 fragment header, as Ethernet has it.
fn frame() -> Vec<u8> {
    let mut tcp = vec![0x9c, 0x40, 0, 80, 0, 0, 3, 0xe8, 0, 0, 0x13, 0x89, 0x80, 0x10, 0xff, 0xff, 0, 0, 0, 0];
    tcp.extend([1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 7, 7, 7, 7]);
    let mut inner = vec![0x60, 0, 0, 0, 0, 8 + tcp.len() as u8, 44, 64];
    inner.extend([[0x20; 16], [0x21; 16]].concat());
    inner.extend([6, 0, 0, 0, 0, 0, 0, 9]);
    inner.extend(tcp);
    let mut found = vec![2; 12];
    found.extend([0x81, 0, 0, 1, 8, 0]);
    found.extend([0x45, 0, 0, 28 + inner.len() as u8, 0, 0, 0x40, 0, 64, 47, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    found.extend([0x20, 0, 0x86, 0xdd, 0, 0, 0, 5]);
    found.extend(inner);
    found
}

fn pcap() -> Vec<u8> {
    let mut file = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 1, 0, 0, 0];
    for second in 1..4_u8 {
        let (frame, length) = (frame(), frame().len() as u8);
        file.extend([second, 0, 0, 0, 0, 0, 0, 0, length, 0, 0, 0, length, 0, 0, 0]);
        file.extend(frame);
    }
    file
}

fn block(kind: u8, body: &[u8]) -> Vec<u8> {
    let size = (body.len().next_multiple_of(4) + 12) as u32;
    let mut found = [[kind, 0, 0, 0], size.to_le_bytes()].concat();
    found.extend(body);
    found.resize(size as usize - 4, 0);
    found.extend(size.to_le_bytes());
    found
}

fn pcapng() -> Vec<u8> {
    let mut file = block(0x0a, &[0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255]);
    file[1..4].copy_from_slice(&[0x0d, 0x0d, 0x0a]);
    file.extend(block(1, &[1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 1, 0, 9, 0, 0, 0]));
    for second in 1..4_u8 {
        let (frame, length) = (frame(), frame().len() as u8);
        let head = [0, 0, 0, 0, 0, 0, 0, 0, second, 0, 0, 0, length, 0, 0, 0, length, 0, 0, 0];
        file.extend(block(6, &[&head[..], &frame].concat()));
    }
    file
}

/// What is read of a file in parts of a size: a line for each packet, and how it ends.
fn read(file: &[u8], part: usize) -> (Vec<String>, String) {
    let mut reader = Reader::new(Some(Wanted { number: 0, until_ns: i64::MAX }));
    let mut found = Vec::new();
    let line = |packet: Packet| format!("{packet:?}");
    for part in file.chunks(part) {
        match reader.feed(part) {
            Ok(packets) => found.extend(packets.into_iter().map(line)),
            Err(wrong) => return (found, wrong.text),
        }
    }
    (found, format!("{:?} {:?}", reader.end(), reader.skipped()))
}

#[test]
fn a_whole_file_has_its_packets() {
    for file in [pcap(), pcapng()] {
        let (packets, end) = read(&file, file.len());
        assert_eq!((packets.len(), end.as_str()), (3, "Ok(None) []"));
        assert!(
            packets[0].contains("length: 4, size: 84,") && packets[0].contains("stamp: Some((1, 2))"),
            "{packets:?}"
        );
    }
}

#[test]
fn no_cut_and_no_byte_makes_the_reader_fail() {
    for file in [pcap(), pcapng()] {
        for length in 0..file.len() {
            let (packets, end) = read(&file[..length], length.max(1));
            assert!(packets.len() < 3 && !end.is_empty());
        }
        for place in 0..file.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut changed = file.clone();
                changed[place] = value;
                let whole = read(&changed, changed.len());
                assert!(whole.0.len() <= 3);
                let pieces = read(&changed, 7);
                // Where a block is too long, and what is a piece of what, is seen within a part alone.
                let apart = [&whole.1, &pieces.1].iter().any(|end| end.contains("at byte") || end.contains("Fragment"));
                assert!(apart || whole == pieces, "byte {place} is {value}: {whole:?}, in parts {pieces:?}");
            }
        }
    }
}
