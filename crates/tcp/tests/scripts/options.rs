//! Options of a segment, between angle brackets: `<mss 1460,sackOK,TS val 100 ecr 0,wscale 7>`, `<sack 1:2 3:4>`,
//! `<ECN e0b 1 ceb 0 e1b 1>` (AccECN).

use tcp::{EcnBytes, Flags, Segment, SeqNo, SeqRange, SynOptions, Timestamps};

use crate::text::{Outcome, number};

/// What a SYN without the option means (RFC 9293 §3.7.1).
const DEFAULT_MSS: u32 = 536;

/// Reads the options into `segment`, whose flags are known.
pub(crate) fn read(text: &str, segment: &mut Segment) -> Outcome {
    let is_syn = segment.flags.contains(Flags::SYN);
    let mut syn = SynOptions { mss: DEFAULT_MSS, window_scale: None, sack_permitted: false };
    for option in text.split(',').map(str::trim).filter(|option| !option.is_empty()) {
        let words: Vec<&str> = option.split_whitespace().collect();
        if !is_syn && ["mss", "sackOK", "wscale"].contains(&words[0]) {
            return Err(format!("{option:?} belongs to a SYN"));
        }
        match words[..] {
            ["mss", bytes] => syn.mss = number(bytes)?,
            ["sackOK"] => syn.sack_permitted = true,
            ["wscale", shift] => syn.window_scale = Some(number(shift)?),
            ["TS", "val", value, "ecr", echo] => {
                segment.timestamps = Some(Timestamps { value: number(value)?, echo: number(echo)? });
            }
            ["sack", ref blocks @ ..] => blocks.iter().try_for_each(|block| read_block(block, segment))?,
            ["ECN", "e0b", ect0, "ceb", ce, "e1b", ect1] => {
                segment.ecn_bytes = Some(EcnBytes { ect0: number(ect0)?, ce: number(ce)?, ect1: number(ect1)? });
            }
            _ => return Err(format!("unknown option {option:?}")),
        }
    }
    segment.syn = is_syn.then_some(syn);
    Ok(())
}

fn read_block(block: &str, segment: &mut Segment) -> Outcome {
    let (start, end) = block.split_once(':').ok_or(format!("{block:?} does not look like 1:1001"))?;
    let fits = segment.sack.push(SeqRange::new(SeqNo(number(start)?), SeqNo(number(end)?)));
    if fits { Ok(()) } else { Err("no room for so many blocks".into()) }
}

/// The options as a script would write them; nothing if there are none.
pub(crate) fn show(segment: &Segment) -> String {
    let mut options = Vec::new();
    if let Some(syn) = segment.syn {
        options.push(format!("mss {}", syn.mss));
        options.extend(syn.sack_permitted.then(|| "sackOK".to_owned()));
        options.extend(syn.window_scale.map(|shift| format!("wscale {shift}")));
    }
    options.extend(segment.timestamps.map(|stamps| format!("TS val {} ecr {}", stamps.value, stamps.echo)));
    let blocks: String = segment.sack.blocks().map(|block| format!(" {block}")).collect();
    options.extend((!blocks.is_empty()).then(|| format!("sack{blocks}")));
    options.extend(segment.ecn_bytes.map(|b| format!("ECN e0b {} ceb {} e1b {}", b.ect0, b.ce, b.ect1)));
    if options.is_empty() { String::new() } else { format!(" <{}>", options.join(",")) }
}
