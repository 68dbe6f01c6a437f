"""The world on the screen is that of the sliders: nothing vanishes, jumps or is lost while a person turns, types, looks."""

import json

import pytest

from tonopah.lab import presets

from .test_lab_bench import DRAWN, TOML, run_toml

WATCHED = """window.bare = 0; window.frames = 0; window.watching = true; (function look() {
    if (!window.watching) return;
    window.frames += 1;
    const plots = document.querySelectorAll('figure.series .plot .uplot').length;
    if (!plots || !document.querySelector('.results table.results')) window.bare += 1;
    requestAnimationFrame(look);
})()"""
SLIDERS = "[...document.querySelectorAll('.sliders input')].map((one) => one.dataset.path)"
LABELS = "[...document.querySelectorAll('.sliders label')].map((one) => one.textContent)"


@pytest.fixture
def bench(page):
    page.open("bench")
    page.shown()
    return page


def choose(page, preset):
    page.mark()
    page.set("#preset", preset, "change")
    page.changed()


def press(page, key, times=1):
    for _ in range(times):
        for kind in ("rawKeyDown", "keyUp"):
            page.browser.call("Input.dispatchKeyEvent", type=kind, key=key, code=key)


def test_no_frame_is_without_plots_and_table_while_a_slider_is_dragged(bench):
    bench.mark()
    bench.js(WATCHED)
    for position in range(20, 80, 3):
        bench.set("input[data-path='network.bottleneck.delay']", str(position / 100))
    bench.changed()
    bench.js("window.watching = false")
    assert bench.js("window.frames") > 5 and bench.js("window.bare") == 0


def test_every_slider_is_moved_by_each_press_of_a_key(bench):
    for path in bench.js(SLIDERS):
        slider = f"document.querySelector({json.dumps(f'input[data-path={json.dumps(path)}]')})"
        bench.js(f"{slider}.focus()")
        seen = []
        for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"):
            press(bench, key)
            seen.append(bench.js(f"{slider}.nextElementSibling.textContent"))
            # It keeps the focus, its place and its name.
            assert bench.js(f"document.activeElement === {slider}")
        assert len(set(seen[:3])) == 3 and seen[3] == seen[1], (path, seen)
        press(bench, "End")
        assert bench.js(f"{slider}.nextElementSibling.textContent") not in seen


@pytest.mark.parametrize("preset", ["two-rtts", "parking-lot", "leo", "dumbbell"])
def test_sliders_keep_place_and_name_when_they_are_turned(bench, preset):
    choose(bench, preset)
    paths, labels = bench.js(SLIDERS), bench.js(LABELS)
    for path in paths:
        bench.set(f"input[data-path='{path}']", "0.3")
        bench.until(f"JSON.stringify({SLIDERS}) === {json.dumps(json.dumps(paths, separators=(',', ':')))}")
        assert bench.js(LABELS) == labels


def test_a_slider_of_alike_links_turns_all_of_them_and_says_so(bench):
    choose(bench, "parking-lot")
    for position in ("0.52", "0.6"):
        bench.mark()
        bench.set("input[data-path='link[0].rate']", position)
        bench.changed()
    shown = bench.text("input[data-path='link[0].rate'] ~ output")
    assert shown != "10Mbps"
    bench.until(f"document.querySelector('#toml').value.split('rate = \"{shown}\"').length === 4")
    assert "rate, 3 links" in bench.js(LABELS)


def test_a_radio_has_only_rates_of_its_standard(bench):
    choose(bench, "wifi")
    slider = "input[data-path='network.radio.data_rate']"
    bench.until(f"Number(document.querySelector({slider!r}).value) === 0")
    seen = [bench.text(f"{slider} ~ output")]
    for position in range(1, 21):
        bench.set(slider, str(position / 20))
        seen.append(bench.text(f"{slider} ~ output"))
    assert list(dict.fromkeys(seen)) == [f"{rate}Mbps" for rate in (6, 9, 12, 18, 24, 36, 48, 54)]


def test_a_look_at_another_view_keeps_the_scenario(bench):
    choose(bench, "two-rtts")
    bench.mark()
    bench.set("input[data-path='link[2].rate']", "0.7")
    bench.changed()
    bench.until("document.querySelector('#preset').value === ''")
    bench.until("document.querySelector('#toml').value.includes('30.3Mbps')")
    before = bench.js("document.querySelector('#toml').value")
    bench.js("location.hash = 'lessons'")
    bench.until("document.querySelector('ol.lessons')")
    bench.js("location.hash = 'bench'")
    bench.until("document.querySelector('#toml')?.value.length > 10")
    bench.shown()
    assert bench.js("document.querySelector('#toml').value") == before


def test_a_change_of_the_world_can_be_undone(bench):
    text = "# kept\n" + TOML
    run_toml(bench, text)
    bench.mark()
    bench.set("input[data-path='network.bottleneck.rate']", "0.7")
    bench.changed()
    bench.until("!document.querySelector('#toml').value.includes('# kept')")
    bench.mark()
    bench.browser.call("Input.dispatchKeyEvent", type="rawKeyDown", key="z", code="KeyZ", modifiers=2, windowsVirtualKeyCode=90)
    bench.changed()
    assert bench.js("document.querySelector('#toml').value") == text


@pytest.mark.parametrize("preset", [one["name"] for one in presets.load() if one["name"] not in ("adhoc", "geo", "leo")])
def test_the_rate_is_drawn_on_the_scale_of_what_arrives(bench, preset):
    choose(bench, preset)
    plot = f"{DRAWN}.find((one) => one.series.some((s) => /^(Throughput|flow)/.test(s.label)) && one.axes[1].label === 'Mb/s')"
    of_arrival = "i && /^(Throughput|Capacity)/.test(s.label)"
    arrived = f"{plot}.series.flatMap((s, i) => {of_arrival} ? {plot}.data[i].filter(Number.isFinite) : [])"
    assert bench.js(f"{plot}.scales.y.max") <= 1.5 * bench.js(f"Math.max(...{arrived})")


def test_capacity_is_named_after_its_link_whatever_flow_is_switched_off(bench):
    choose(bench, "cellular")
    labels = f"{DRAWN}.flatMap((one) => one.series.map((s) => s.label))"
    assert "Capacity, r0 → r1" in bench.js(labels) and "Capacity, flow 1" not in bench.js(labels)
    bench.js("document.querySelector('.flows button').click()")
    bench.until(f"!{labels}.includes('Throughput, flow 0')")
    assert "Capacity, r0 → r1" in bench.js(labels)


def test_what_is_refused_says_so_once_and_marks_the_old_run(bench):
    bench.set("#toml", "")
    bench.until("document.querySelector('#stale')")
    assert bench.text("#toml-mistake") == "the scenario is empty"
    assert bench.text("#run-state") == "the scenario cannot be run"
    bench.set("#toml", TOML.replace("4Mbps", "fast"))
    bench.until("document.querySelector('#toml-mistake').textContent.includes('fast')")
    bench.until("document.querySelector('.shown.stale')")
    assert bench.js("document.body.innerText.split('\"fast\"').length - 1") == 2  # the text itself, and what is said of it
    run_toml(bench, TOML)
    assert not bench.js("document.querySelector('#stale') || document.querySelector('.shown.stale')")


def test_a_seed_that_is_none_is_told_at_its_field(bench):
    for seed in ("1e99", "-1", "1.5", ""):
        bench.set("#seed", seed, "input")
        bench.js("document.querySelector('#seed').dispatchEvent(new Event('change', { bubbles: true }))")
        bench.until("document.querySelector('#seed-mistake').textContent.startsWith('a seed is a whole number')")


@pytest.mark.parametrize("letters", ["AAAA", "%00", "not-base64!", "q1ZKzs9JUbJSKi5JTM5WqgUA"])
def test_an_address_that_holds_no_scenario_says_so(bench, letters):
    bench.js(f"location.hash = {f'bench/{letters}'!r}")
    bench.until("document.querySelector('.mistake')?.textContent.startsWith('the address holds no scenario')")
    bench.js("location.hash = 'bench'")
    bench.shown()


def test_a_lab_that_is_gone_is_told_in_words(bench):
    bench.js("window.real = fetch; window.fetch = () => Promise.reject(new TypeError('Failed to fetch'))")
    bench.js("document.querySelector('.share').open = true; document.querySelector('[data-form=csv]').click()")
    bench.until("document.querySelector('.share [role=status]').textContent.startsWith('the lab does not answer')")
    bench.js("window.fetch = window.real")


def test_of_many_flows_those_that_can_be_switched_are_drawn(bench):
    run_toml(bench, TOML.replace("pairs = 2\nflows = 2", "pairs = 200\nflows = 200"))
    assert bench.js(f"Math.max(...{DRAWN}.map((one) => one.series.length - 1))") <= 2 * 24
    assert bench.text("#more-flows") == "the first 24 of 200 flows are drawn"
    assert "188 flows more" in bench.text(".results .beside")


def test_flows_have_their_names_and_datagrams_no_algorithm(bench):
    app = 'app = { kind = "cbr", rate = "50pps", size = "100B", transport = "udp" }'
    flow = f'[[flow]]\nfrom = "left0"\nto = "right0"\nname = "my game"\n{app}\n'
    run_toml(bench, TOML.replace("flows = 2\n", "") + flow)
    assert bench.text(".flows button") == "my game: datagrams"
    assert bench.js("[...document.querySelector('table.results tbody tr').cells].slice(0, 2).map((one) => one.textContent)") == [
        "my game", "datagrams"
    ]  # fmt: skip


def test_a_retransmission_lies_on_the_ack_line_and_is_seen(bench):
    for _ in range(6):
        bench.js("document.querySelector('[aria-label=\"zoom in\"]').click()")
    bench.until("document.querySelector('canvas.sequence')?.width > 100")
    bench.until("/[1-9]\\d* sent again/.test(document.querySelector('canvas.sequence').ariaLabel)")
    colour = bench.js("getComputedStyle(document.documentElement).getPropertyValue('--s1').trim()")
    wanted = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    same = " && ".join(f"d[i + {k}] === {value}" for k, value in enumerate(wanted))
    pixels = (
        "(() => { const c = document.querySelector('canvas.sequence'); let n = 0;"
        " const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
        f" for (let i = 0; i < d.length; i += 4) if ({same}) n += 1; return n; }})()"
    )
    bench.until(f"{pixels} > 20")
