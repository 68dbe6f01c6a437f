"""The TCP endpoint driven by hand."""

import doctest
import threading
from pathlib import Path

import pytest

import tonopah
from tonopah import Endpoint, ScenarioError, Segment
from tonopah.runs import endpoint as module

PAGE = Path(__file__).parents[2] / "docs" / "endpoint.md"
SETTINGS = {"cc": "newreno", "mss": "1000B", "initial_window": "2p", "recv_buffer": "60kB"}


def connected(side="connect", auto_read=True, **tcp):
    """Return an endpoint whose handshake took 0.1 s and is forgotten."""
    end = getattr(Endpoint, side)(tcp=SETTINGS | tcp, auto_read=auto_read)
    if side == "connect":
        end.advance(0.1)
        end.inject(Segment(seq=0, ack=1, flags="S.", window_bytes=60_000))
    else:
        end.inject(Segment(seq=0, flags="S", window_bytes=60_000))
        end.advance(0.1)
        end.inject(Segment(seq=1, ack=1, window_bytes=60_000))
    end.sent()
    end.events()
    return end


def test_the_worked_example_of_the_class():
    assert doctest.testmod(module).failed == 0


def test_the_page_of_the_manual_shows_what_happens():
    results = doctest.testfile(str(PAGE), module_relative=False)
    assert results.failed == 0 and results.attempted > 20


def test_both_sides_of_a_handshake_understand_each_other():
    ends = {True: Endpoint.connect(tcp=SETTINGS), False: Endpoint.listen(tcp=SETTINGS)}
    for _ in range(4):
        for active, end in ends.items():
            end.advance(0.05)
            for _, segment in end.sent():
                ends[not active].inject(segment)
    assert {end.state.phase for end in ends.values()} == {"established"}
    assert [event.kind for event in ends[False].events()] == ["connected"]


def test_received_data_is_delivered_and_acknowledged():
    end = connected("listen")
    end.inject(Segment(seq=1, ack=1, len_bytes=1000))
    end.inject(Segment(seq=1001, ack=1, len_bytes=500))
    assert [(event.kind, event.len_bytes) for event in end.events()] == [("delivered", 1000), ("delivered", 500)]
    assert end.sent()[-1][1].ack == 1501
    assert end.sent() == [] and end.events() == []


@pytest.mark.parametrize("side", ["connect", "listen"])
def test_a_slow_reader_closes_the_window_and_opens_it_again(side):
    end = connected(side, auto_read=False, recv_buffer="3kB")
    for seq in (1, 1001, 2001):
        end.inject(Segment(seq=seq, ack=1, len_bytes=1000))
    assert [event.len_bytes for event in end.events()] == [1000, 1000, 1000]
    assert end.state.readable_bytes == 3000
    end.advance(1)
    assert end.sent()[-1][1].window_bytes == 0
    assert (end.read(100), end.sent(), end.state.readable_bytes) == (100, [], 2900)
    assert (end.read(2500), end.read(1000), end.read(1)) == (2500, 400, 0)
    told = [segment for _, segment in end.sent()]
    assert [segment.ack for segment in told] == [3001] * len(told) and told[-1].window_bytes >= 2000


def test_what_is_read_at_once_does_not_wait():
    end = connected()
    end.inject(Segment(seq=1, ack=1, len_bytes=1000))
    assert (end.state.readable_bytes, end.read(1000)) == (0, 0)


def test_timers_have_names_and_times():
    end = Endpoint.connect(tcp=SETTINGS)
    assert end.state.timers == {"rto": 1.0}
    end = connected()
    assert end.state.timers == {} and end.state.next_timeout_s is None
    end.inject(Segment(seq=1, ack=1, len_bytes=1000))
    assert end.state.timers == pytest.approx({"delayed_ack": 0.3})
    end.inject(Segment(seq=1001, ack=1, window_bytes=0))
    end.write(1000)
    timers = end.state.timers
    assert set(timers) == {"delayed_ack", "persist"} and end.state.next_timeout_s == min(timers.values())
    end.advance(0.2)
    assert set(end.state.timers) == {"persist"}


def test_close_follows_the_states():
    end = connected()
    end.close()
    (_, fin) = end.sent()[0]
    assert fin.flags == "F." and end.state.phase == "fin_wait_1"
    end.inject(Segment(seq=1, ack=fin.seq + 1, flags="F."))
    assert end.state.phase == "time_wait" and end.events()[-1].kind == "peer_closed"
    end.advance(end.state.next_timeout_s)
    assert end.state.phase == "closed" and end.state.next_timeout_s is None


def test_a_close_with_unread_data_resets_and_a_shutdown_does_not():
    for leave, flags in (Endpoint.close, "R."), (Endpoint.shutdown_write, "F."):
        end = Endpoint.connect(tcp=SETTINGS, auto_read=False)
        end.inject(Segment(flags="S.", ack=1))
        end.inject(Segment(seq=1, ack=1, len_bytes=1000))
        end.sent()
        leave(end)
        assert [segment.flags for _, segment in end.sent()] == [flags]


def test_data_after_a_close_is_refused():
    end = connected()
    end.close()
    end.sent()
    end.inject(Segment(seq=1, ack=2, len_bytes=1000))
    assert [(segment.flags, segment.seq) for _, segment in end.sent()] == [("R", 2)]
    assert end.state.phase == "closed" and end.events()[-1].kind == "closed"


def test_after_both_shutdowns_data_is_refused():
    end = connected()
    end.shutdown_read()
    end.inject(Segment(seq=1, ack=1, len_bytes=1000))
    assert end.state.phase == "established"
    end.shutdown_write()
    end.sent()
    end.inject(Segment(seq=1001, ack=2, len_bytes=1000))
    assert [segment.flags for _, segment in end.sent()] == ["R"]


def test_an_abort_resets_and_a_reset_is_an_event():
    end, peer = connected(), connected()
    end.abort()
    [(_, reset)] = end.sent()
    assert reset.flags == "R." and end.state.phase == "closed"
    peer.inject(reset)
    assert [event.kind for event in peer.events()][-2:] == ["reset", "closed"]


def test_silence_aborts():
    end = connected(user_timeout="5s")
    end.write(1000)
    end.advance(20)
    assert end.state.phase == "closed"
    assert [event.kind for event in end.events()][-2:] == ["aborted", "closed"]


def test_socket_options_change():
    end = connected(send_buffer="2kB")
    end.set(cork=True)
    end.write(400)
    assert end.sent() == []
    end.set(cork=False, send_buffer="5kB")
    assert [segment.len_bytes for _, segment in end.sent()] == [400]
    assert end.write(9000) == 4600 and end.settings["send_buffer"] == "5kB"
    end.set(nagle=True)
    assert end.settings["nagle"] is True
    with pytest.raises(ScenarioError, match=r"set\.recv_buffer"):
        end.set(recv_buffer="1B")


def test_push_is_a_flag():
    end = Endpoint.listen(tcp={"profile": "linux", "cc": "cubic", "timestamps": False, "quick_acks": 0, "mss": "1000B"})
    end.inject(Segment(flags="S", mss_bytes=1000, sack_permitted=True))
    end.inject(Segment(seq=1, ack=1))
    end.sent()
    end.inject(Segment(seq=1, ack=1, len_bytes=1000, flags="P."))
    assert [segment.ack for _, segment in end.sent()] == [1001]
    end.write(2000)
    assert [segment.flags for _, segment in end.sent()] == [".", "P."]


def test_timers_fire_at_their_time_on_the_way():
    end = connected()
    end.write(1000)
    end.at(10)
    times = [time for time, _ in end.sent()]
    assert times == pytest.approx([0.1, 1.1, 3.1, 7.1])
    assert (end.state.now_s, end.state.timeouts, end.state.retransmitted_segments) == (10, 3, 3)


def test_the_state_shows_the_scoreboard_and_both_segment_sizes():
    end = Endpoint.connect(tcp={"cc": "newreno", "recovery": "sack", "mss": "1000B", "initial_window": "10p"})
    assert end.state.mss_bytes is None and end.state.receiver_mss_bytes == 0
    end.advance(0.1)
    end.inject(Segment(flags="S.", ack=1, window_bytes=60_000, mss_bytes=1000, sack_permitted=True))
    end.write(20_000)
    now = end.state
    assert (now.mss_bytes, now.rwnd_bytes, now.unsent_bytes, now.reordering) == (1000, 60_000, 10_000, 3)
    # Two lost below seven reports: both are sent again. The second sample of 0.1 s takes a quarter off RTTVAR.
    end.advance(0.1)
    end.inject(Segment(seq=1, ack=1, len_bytes=400, window_bytes=60_000, sack=((2001, 9001),)))
    now = end.state
    assert (now.sacked_bytes, now.lost_bytes, now.retransmitted_bytes) == (7000, 2000, 2000)
    assert (now.receiver_mss_bytes, now.probes) == (400, 0)
    assert now.rttvar_s == pytest.approx(0.0375)


def test_probes_of_a_closed_window_are_counted():
    end = connected()
    end.write(1000)
    end.inject(Segment(seq=1, ack=1001, window_bytes=0))
    end.write(1000)
    end.advance(3.5)
    assert end.state.probes == 2 and "persist" in end.state.timers


def test_a_full_send_buffer_takes_the_rest_later():
    end = connected(send_buffer="2kB")
    assert end.write(5000) == 2000 and end.state.room_bytes == 0
    end.inject(Segment(seq=1, ack=1001))
    assert [event.kind for event in end.events()] == ["writable"] and end.state.room_bytes == 1000


def test_the_room_of_an_unlimited_send_buffer_is_not_a_number():
    end = connected()
    assert end.state.room_bytes is None
    end.write(5000)
    assert end.state.room_bytes is None


def test_settings_are_those_of_a_scenario():
    settings = connected().settings
    assert (settings["profile"], settings["mss"], settings["initial_window"]) == ("rfc", "1kB", "2kB")
    assert Endpoint.connect(tcp=settings).settings == settings


@pytest.mark.parametrize(
    ("tcp", "path", "word"),
    [
        ({"mss": "0B"}, "tcp.mss", "65495B"),
        ({"mss": 1000}, "tcp.mss", "1460B"),
        ({"msss": "1kB"}, "tcp.msss", "known"),
        ({"cc": "cubik"}, "tcp.cc", "cubic"),
        ({"cc": {"name": "cubic", "beta": 7}}, "tcp.cc.beta", "to"),
        ({"profile": "vms"}, "tcp.profile", "linux"),
        ({"rto_min": float("nan")}, "tcp.rto_min", "finite"),
        ({1: 2}, "tcp.1", "known"),
        ([("mss", "1kB")], "tcp", "table"),
    ],
)
def test_wrong_settings_are_refused_as_in_a_scenario(tcp, path, word):
    for side in (Endpoint.connect, Endpoint.listen):
        with pytest.raises(ScenarioError) as caught:
            side(tcp=tcp)
        assert caught.value.path == path and word in str(caught.value)


@pytest.mark.parametrize(
    ("field", "value", "allowed"),
    [
        ("seq", -1, "whole number from 0"),
        ("ack", 1.5, "whole number from 0"),
        ("seq", 2**64, "whole number from 0"),
        ("len_bytes", 65_536, "to 65535"),
        ("len_bytes", "1", "to 65535"),
        ("window_bytes", None, "whole number"),
        ("flags", "SX", "S (SYN)"),
        ("flags", None, "S (SYN)"),
        ("sack", ((1, 2),) * 5, "at most four"),
        ("sack", ((1,),), "2 whole numbers"),
        ("sack", 5, "at most four"),
        ("timestamps_ms", (1, 2, 3), "2 whole numbers"),
        ("timestamps_ms", (1, 2**32), "to 4294967295"),
        ("ecn", "ect", "ect0"),
        ("ecn_bytes", (1, 2), "3 whole numbers"),
        ("mss_bytes", 65_536, "to 65535"),
        ("window_scale", 15, "to 14"),
        ("sack_permitted", "yes", "True or False"),
    ],
)
def test_a_wrong_field_of_a_segment_is_named_with_what_is_allowed(field, value, allowed):
    with pytest.raises(ScenarioError) as caught:
        Segment(**{field: value})
    assert caught.value.path == f"segment.{field}" and allowed in caught.value.hint


def test_options_of_a_syn_come_with_its_mss():
    with pytest.raises(ScenarioError, match=r"segment\.mss_bytes"):
        Segment(flags="S", window_scale=7)


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), 1e10, "1", None])
def test_wrong_times_are_refused(value):
    end = connected()
    for move, field in ((end.advance, "seconds"), (end.at, "time_s")):
        with pytest.raises(ScenarioError) as caught:
            move(value)
        assert caught.value.path == field and "from 0" in str(caught.value)


def test_the_clock_does_not_go_back():
    end = connected()
    with pytest.raises(ScenarioError, match=r"time_s: 0\.05 is not allowed .*0\.1 s"):
        end.at(0.05)


@pytest.mark.parametrize("value", [-1, 1.5, 2**60, "5"])
def test_wrong_writes_and_reads_are_refused(value):
    for call in (connected().write, connected().read):
        with pytest.raises(ScenarioError, match=r"bytes: .* whole number"):
            call(value)


def test_what_is_no_segment_is_refused():
    with pytest.raises(ScenarioError, match=r"a tonopah\.Segment"):
        connected().inject("S")
    with pytest.raises(TypeError, match=r"Endpoint\.connect"):
        Endpoint(None)


def test_a_broken_invariant_is_an_error_and_the_endpoint_says_so_again():
    end = connected(mss="1B", initial_window="200000p")
    end.inject(Segment(seq=1, ack=1, window_bytes=10**6))
    with pytest.raises(RuntimeError, match="please report it: 100000 segments at once"):
        end.write(200_000)
    with pytest.raises(RuntimeError, match="failed before"):
        end.advance(1)


def test_segments_go_round_and_are_shown():
    full = Segment(
        seq=5,
        ack=7,
        len_bytes=10,
        flags="FEWe.",
        window_bytes=9,
        sack=((20, 30), (40, 50)),
        timestamps_ms=(1, 2),
        ecn="ce",
        ecn_bytes=(1, 2, 3),
    )
    assert eval(repr(full), {"Segment": Segment}) == full
    assert str(full).startswith("FEWe. 5:15(10) ack 7 win 9 sack 20:30 40:50 timestamps_ms (1, 2) ecn ce")
    syn = Segment(flags="S", mss_bytes=1460, window_scale=7, sack_permitted=True)
    assert str(syn) == "S 0:0(0) win 65535 mss_bytes 1460 window_scale 7 sack_permitted True"
    assert repr(connected()) == "<tonopah.Endpoint: established at 0.1 s, open, cwnd 2000 B, flight 0 B>"


def test_an_endpoint_may_change_threads():
    end = connected()
    thread = threading.Thread(target=end.write, args=(1000,))
    thread.start()
    thread.join()
    assert len(end.sent()) == 1 and tonopah.Endpoint is Endpoint


def test_a_write_that_more_follows_waits_for_the_rest_and_for_an_ack():
    end = connected(nagle=False)
    assert end.write(400, more=True) == 400 and end.sent() == []
    end.write(100)
    assert [(segment.seq, segment.len_bytes) for _, segment in end.sent()] == [(1, 500)]
    end.write(300, more=True)
    assert end.sent() == []
    end.inject(Segment(seq=1, ack=501, window_bytes=60_000))
    assert [(segment.seq, segment.len_bytes) for _, segment in end.sent()] == [(501, 300)]


def test_a_user_time_out_counts_from_the_first_time_out_and_may_be_taken_back():
    end = connected(profile="rfc", tlp=False)
    end.write(1000)
    end.set(user_timeout="2s")
    end.advance(2.9)
    assert [event.kind for event in end.events()] == []
    end.advance(0.2)
    assert [event.kind for event in end.events()] == ["aborted", "closed"]
    end = connected(profile="rfc", tlp=False)
    end.write(1000)
    end.set(user_timeout="2s")
    end.advance(2.5)
    end.set(user_timeout="0s")
    end.advance(10)
    assert [event.kind for event in end.events()] == []
    with pytest.raises(ScenarioError, match="user_timeout"):
        end.set(user_timeout="soon")


def test_push_ends_a_write_in_profile_linux_only():
    for profile, flags in (("linux", [".", "P."]), ("rfc", [".", "."])):
        end = connected(profile=profile, cc="cubic", recovery="rack")
        end.write(1500)
        assert [segment.flags.replace(".P", "P.") for _, segment in end.sent()] == flags
