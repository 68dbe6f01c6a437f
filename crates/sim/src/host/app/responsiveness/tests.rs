//! The vectors of the formula, the schedule, and what is timed.

use super::*;

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn plan(client: End, loading: [bool; 2]) -> ResponsivenessPlan {
    ResponsivenessPlan { flows: 2, probes: 1000, client, loading, every: Span::from_millis(100) }
}

fn told(app: &mut Responsiveness, at: u64, input: Input) -> Vec<Command> {
    let mut commands = Vec::new();
    app.on(ms(at), input, &mut commands);
    commands
}

#[test]
fn the_formula_follows_the_vectors() {
    let all: serde_json::Value = serde_json::from_str(include_str!("../../../../tests/vectors/drafts.json")).unwrap();
    let vectors = &all["rpm"];
    let samples: Vec<f64> = vectors["samples_ms"].as_array().unwrap().iter().map(|ms| ms.as_f64().unwrap()).collect();
    let alike = |ms: f64| vec![ms; 100];
    for (name, times) in [
        ("all alike", [samples.clone(), samples.clone(), samples]),
        ("idle 20 ms", [alike(20.0), alike(20.0), alike(20.0)]),
        ("loaded 300 ms", [alike(100.0), alike(120.0), alike(300.0)]),
    ] {
        let Rpm { foreign, loaded, rpm } = Rpm::of(times);
        for (key, found) in [("foreign", foreign), ("loaded", loaded), ("rpm", rpm)] {
            let (found, expected) = (found.unwrap(), vectors[name][key].as_f64().unwrap());
            assert!((found / expected - 1.0).abs() < 1e-9, "{name}, {key}: {found}, not {expected}");
        }
    }
    assert_eq!(Rpm::of([vec![], vec![20.0], vec![30.0]]), Rpm { foreign: None, loaded: Some(2000.0), rpm: None });
}

#[test]
fn a_client_opens_the_load_one_by_one_and_probes_both_kinds() {
    let (client, server) = (End::Sink, End::Source);
    let mut app = Responsiveness::new(plan(client, [true, false]));
    let ask = |connection| Command::Send { connection, end: client, bytes: REQUEST };
    assert_eq!(told(&mut app, 0, Input::Start), [Command::Open(0), ask(0), Command::Wake(ms(1000))]);
    let begun = told(&mut app, 40, Input::Message { connection: 0, reader: server });
    let piece = |connection| Command::Send { connection, end: server, bytes: PIECE };
    let room = |connection| Command::TellRoom { connection, end: server };
    assert_eq!(begun, [piece(0), room(0)]);
    assert_eq!(told(&mut app, 41, Input::Room { connection: 0, end: server }), [piece(0), room(0)]);
    assert_eq!(told(&mut app, 60, Input::Connected(0)), []);
    for _ in 0..2 {
        assert_eq!(told(&mut app, 900, Input::Message { connection: 0, reader: client }), []);
    }
    // 2 Mb/s in the first second: a pair every 120 ms is 5 % of that.
    let first = told(&mut app, 1000, Input::Due);
    let Some(Command::Wake(next)) = first.last() else { panic!("{first:?}") };
    assert_eq!(first[..2], [Command::Open(2), ask(0)]);
    assert!((next.since(ms(1000)).as_secs_f64() - 12_000.0 / (0.05 * 2.0 * 8.0 * 131_072.0)).abs() < 1e-9);
    // 30 ms for the handshake, 25 for the exchange on the new connection, 200 on that of the load.
    assert_eq!(told(&mut app, 1030, Input::Connected(2)), [ask(2)]);
    let answer = |connection| Command::Send { connection, end: server, bytes: ANSWER };
    assert_eq!(told(&mut app, 1040, Input::Message { connection: 2, reader: server }), [answer(2)]);
    assert_eq!(told(&mut app, 1055, Input::Message { connection: 2, reader: client }), [Command::Close(2)]);
    assert_eq!(told(&mut app, 1060, Input::Message { connection: 0, reader: server }), [answer(0)]);
    assert_eq!(told(&mut app, 1200, Input::Message { connection: 0, reader: client }), []);
    let second = told(&mut app, 5000, Input::Due);
    assert_eq!(second[..2], [Command::Open(1), ask(1)], "one more after 5 s");
    let found = app.summary(Time::ZERO, ms(5000));
    assert_eq!((found.rpm_foreign, found.rpm_loaded), (Some(60_000.0 / 27.5), Some(300.0)));
    assert_eq!((found.rpm, found.rpm_stable, found.probes_answered), (Some((60_000.0 / 27.5 + 300.0) / 2.0), None, 1));
    assert_eq!(app.summary(ms(1001), ms(5000)).rpm, None, "all of it began in the warm-up");
    assert_eq!(app.summary(Time::ZERO, ms(4999)).rpm, None, "an interval that has not ended does not count");
}

#[test]
fn who_sends_decides_about_the_pieces() {
    let mut up = Responsiveness::new(plan(End::Source, [true, false]));
    let piece = |end| Command::Send { connection: 0, end, bytes: PIECE };
    let room = |end| Command::TellRoom { connection: 0, end };
    let expected = [Command::Open(0), piece(End::Source), room(End::Source), Command::Wake(ms(1000))];
    assert_eq!(told(&mut up, 0, Input::Start), expected);
    let mut both = Responsiveness::new(plan(End::Source, [true, true]));
    let begin = Command::Send { connection: 0, end: End::Source, bytes: REQUEST };
    let started = told(&mut both, 0, Input::Start);
    assert_eq!(started, [&[Command::Open(0), begin], &expected[1..]].concat());
    let answered = told(&mut both, 40, Input::Message { connection: 0, reader: End::Sink });
    assert_eq!(answered, [piece(End::Sink), room(End::Sink)]);
}

#[test]
fn averages_that_agree_are_stable() {
    let mut app = Responsiveness::new(plan(End::Sink, [true, false]));
    told(&mut app, 0, Input::Start);
    for (second, rtt) in (1..40).map(|second| (second, if second < 20 { 100 } else { 50 })) {
        let (began, ended) = (ms(1000 * second), ms(1000 * second + rtt));
        for kind in [Kind::Handshake, Kind::Foreign, Kind::Loaded] {
            app.add(kind, began, ended);
        }
    }
    app.last = ms(40_000);
    assert_eq!(app.summary(Time::ZERO, ms(40_000)).rpm, Some(1200.0));
    // Those that end at 25, 30, 35 and 40 s have different parts of both halves.
    assert_eq!(app.summary(Time::ZERO, ms(40_000)).rpm_stable, Some(0.0));
    assert_eq!(app.summary(ms(6000), ms(40_000)).rpm_stable, None, "three averages");
    let steady: Vec<f64> = vec![1000.0, 1010.0, 1020.0, 1005.0];
    assert!(is_stable(&steady) && !is_stable(&[1000.0, 1200.0, 1000.0, 1200.0]));
}
