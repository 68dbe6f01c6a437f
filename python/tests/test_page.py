"""The lab as a page without a server: the engine gives the bytes of the native one, and the page opens from the disk, offline."""

import base64
import json
import os
import re
import shutil
import subprocess
import zlib
from pathlib import Path

import pytest
from chromium import chromium

pytest.importorskip("starlette", reason="the extra `lab` is not installed, whose front end the page has")

import tonopah
from tonopah import _core, examples
from tonopah.lab import presets
from tonopah.lab.app import STATIC
from tonopah.lab.session import recorded
from tonopah.runs.simulation import run_prepared
from tonopah.scenario import links
from tonopah.scenario.document import parse, to_json
from tonopah_dev.browser.measure import SHOWN

ROOT = Path(__file__).parents[2]
MODULE = Path(os.environ.get("TONOPAH_WEB", ROOT / "target/wasm32-unknown-unknown/release/web.wasm"))
GOLDEN = ROOT / "target/golden-runs.jsonl"
WORLD = {"duration": "4s", "network": {"kind": "dumbbell", "flows": 2, "bottleneck": {"rate": "5Mbps"}}}
LARGE = {"kind": "dumbbell", "pairs": 20_000, "flows": 100_000}
NUMBERS = "[...document.querySelectorAll('table.results tbody tr')].map((row) => [...row.cells].map((one) => one.textContent))"

pytestmark = pytest.mark.skipif(not MODULE.exists(), reason="the engine is not built for WebAssembly: `make page` does it")


def in_node(runs, script=""):
    """Return the text of the summaries of scenarios, or of mistakes, by the engine of the page in Node."""
    if not (node := shutil.which("node")):
        pytest.skip("no Node on this machine")
    lines = "".join(f"{json.dumps({'scenario': scenario, 'seed': 1, 'script': script})}\n" for scenario in runs)
    command = [node, str(Path(__file__).parent / "in_node.mjs"), str(STATIC / "worker.js"), str(MODULE)]
    ended = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=1200, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.splitlines()


def test_every_preset_gives_the_bytes_of_the_native_engine():
    scenarios = [recorded(parse(preset["toml"])) for preset in presets.load()]
    native = [_core.run(to_json(scenario), 1)[0].json() for scenario in scenarios]
    assert in_node(scenarios) == native


EXAMPLES = Path(examples.__file__).parent
LOSSY = {
    "duration": "20s", "tcp": {"recovery": "rack"},
    "network": {
        "kind": "dumbbell", "flows": 2,
        "bottleneck": {"rate": "5Mbps", "queue": "20p", "loss": {"kind": "packet", "p": 0.002}},
    },
}  # fmt: skip


@pytest.mark.parametrize("beta", [0.5, 0.7])
def test_reno_in_javascript_decides_as_reno_in_python(beta):
    def flows(run):
        return [{key: value for key, value in flow.items() if not key.startswith("cc")} for flow in run["flows"]]

    def scenario(name):
        key = "python" if ".py:" in name else "name"
        return {**LOSSY, "tcp": {**LOSSY["tcp"], "cc": {key: name, "beta": beta}}}

    [text] = in_node([scenario("mine.js:Reno")], (EXAMPLES / "reno.js").read_text(encoding="utf-8"))
    found, wanted = json.loads(text), tonopah.run(scenario(f"{EXAMPLES / 'reno.py'}:Reno"), seed=1).summary
    assert flows(found) == flows(wanted) and found["links"] == wanted["links"]
    assert sum(flow["recovery_count"] for flow in found["flows"]) > 5


HEAD = "class Mine extends CongestionControl {\n"


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("", "mine.js:Mine is not here"),
        ("class Other {}", "the text has no class Mine that extends CongestionControl"),
        (HEAD, "the algorithm cannot be read: SyntaxError"),
        (HEAD + "on_akc() {} }", "on_akc is never called"),
        (HEAD + "constructor(setup) { super(setup); this.cwnd = 1; } }", "nobody reads this.cwnd: it is this.cwnd_bytes"),
        (HEAD + "on_congestion() {}\n on_ack(ack) {\n ack.none.more; } }", "on_ack failed at .*TypeError.*\\(line 4\\)"),
        (HEAD + "on_congestion() {} on_ack() { this.cwnd_bytes = NaN; } }", "window failed at .*is not a pair"),
        (HEAD + "on_congestion() {} on_ack() {} next_timer() { return 0; } }", "next_timer failed at .*is in the past"),
        (HEAD + "static parameters = { beta: 1 }; }", "is no request: .*beta|invalid type"),
    ],
    ids=["absent", "another", "syntax", "slip", "short", "throws", "nan", "past", "parameter"],
)
def test_what_is_wrong_with_an_algorithm_in_javascript_is_told(script, message):
    [text] = in_node([{**WORLD, "tcp": {"cc": "mine.js:Mine"}}], script)
    assert re.search(message, json.loads(text)["message"]), text


@pytest.mark.skipif(not GOLDEN.exists(), reason="`make test-page` writes the golden runs")
def test_every_golden_run_gives_the_bytes_of_the_native_engine():
    runs = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]
    assert len(runs) > 100
    found = in_node([run["scenario"] for run in runs])
    assert [i for i, run in enumerate(runs) if found[i] != run["summary"]] == []


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The address of a page on the disk."""
    from tonopah_dev.page import main

    folder = tmp_path_factory.mktemp("page")
    main(str(MODULE), str(folder))
    return (folder / "index.html").as_uri()


browser = pytest.fixture(scope="module")(chromium)


def fresh(browser, address):
    """Open an address in a page that knows nothing."""
    browser.messages.clear()
    browser.requests.clear()
    browser.open(address)
    browser.until("document.querySelector('main')")


def complaints(browser):
    """Return what the console says, and requests to anywhere but the page itself."""
    elsewhere = [one for one in browser.requests if not one.startswith(("file:", "blob:", "data:", "about:"))]
    return [*(json.dumps(one)[:400] for one in browser.messages), *elsewhere]


def press(browser, selector):
    browser.click(f"document.querySelector({selector!r})")


def test_the_page_runs_from_the_disk_with_nothing_else(browser, address):
    fresh(browser, address)
    browser.until(SHOWN)
    first = browser.js(NUMBERS)
    assert len(first) == 2
    assert browser.js("document.querySelectorAll('figure.series canvas').length") >= 4
    slider = "document.querySelector(\"input[data-path='network.bottleneck.rate']\")"
    text = browser.js("document.querySelector('#toml').value")
    browser.js(f"window.ran = document.querySelector('#run-state').dataset.run; {slider}.value = 0.7; "
               f"{slider}.dispatchEvent(new Event('input', {{ bubbles: true }})); 1")  # fmt: skip
    browser.until(f"document.querySelector('#run-state').dataset.run !== window.ran && {SHOWN}")
    assert browser.js(NUMBERS) != first
    # A slider changes its value alone: comments and form stay.
    browser.until(f"document.querySelector('#toml').value !== {json.dumps(text)}")
    changed = browser.js("document.querySelector('#toml').value")
    assert [(a, b) for a, b in zip(text.splitlines(), changed.splitlines(), strict=True) if a != b and "rate" not in a] == []
    assert complaints(browser) == []


def test_a_link_gives_the_numbers_of_the_command(browser, address):
    fresh(browser, links.write(WORLD, 7, address))
    browser.until(SHOWN)
    flows = run_prepared(WORLD, None, 7).summary["flows"]
    assert [float(row[2]) for row in browser.js(NUMBERS)] == [float(f"{flow['goodput_bps'] / 1e6:.3g}") for flow in flows]


def typed(browser, selector, text):
    browser.js(f"(() => {{ const field = document.querySelector({selector!r}); field.value = {json.dumps(text)}; "
               "field.dispatchEvent(new Event('input', { bubbles: true })); })(); 1")  # fmt: skip


SCRIPTED = {**WORLD, "tcp": {"recovery": "rack", "cc": "mine.js:Reno"}}
RAN = "[...document.querySelectorAll('table.results tbody tr td:nth-child(2)')].map((cell) => cell.textContent)"


def test_an_algorithm_is_written_beside_the_plots_and_goes_with_a_link(browser, address, tmp_path):
    fresh(browser, links.write(SCRIPTED, 1, address))
    browser.until("document.querySelector('#toml-mistake')?.textContent.includes('mine.js:Reno is not here')")
    browser.js("document.querySelector('#script').open = true; 1")
    press(browser, "#script-example")
    press(browser, "#script-run")
    browser.until(f"{SHOWN} && {RAN}.includes('mine.js:Reno')")
    assert "flow 0: mine.js:Reno" in browser.js("document.querySelector('.flows').textContent")
    numbers = browser.js(NUMBERS)
    # A slip ends the run with its line; what ran before stays in the text.
    typed(browser, "#script-text", "class Reno extends CongestionControl {\n  on_ack() { nowhere(); }\n  on_congestion() {}\n}")
    press(browser, "#script-run")
    browser.until("document.querySelector('#run-error')?.textContent.includes('nowhere is not defined (line 2)')")
    typed(browser, "#script-text", (EXAMPLES / "reno.js").read_text(encoding="utf-8"))
    press(browser, "#script-run")
    browser.until(
        f"{SHOWN} && JSON.stringify({NUMBERS}) === {json.dumps(json.dumps(numbers, separators=(',', ':'), ensure_ascii=False))}"
    )
    browser.js("document.querySelector('details.share').open = true; 1")
    browser.js("window.before = location.hash; 1")
    press(browser, "#share")
    browser.until("location.hash !== window.before")
    link = browser.js("location.href")
    # Another document, so that the page begins anew.
    (tmp_path / "other.html").write_text("<title>another page</title>")
    browser.open((tmp_path / "other.html").as_uri())
    fresh(browser, link)
    browser.until("document.querySelector('#foreign')")
    assert not browser.js(f"{RAN}.length")
    press(browser, "#script-run")
    browser.until(
        f"{SHOWN} && JSON.stringify({NUMBERS}) === {json.dumps(json.dumps(numbers, separators=(',', ':'), ensure_ascii=False))}"
    )
    assert browser.js("document.querySelector('#foreign')") is None
    assert complaints(browser) == []


def test_an_algorithm_that_does_not_return_is_ended(browser, address):
    fresh(browser, links.write(SCRIPTED, 1, address))
    browser.until("document.querySelector('#script-text')")
    typed(browser, "#script-text", "class Reno extends CongestionControl { on_ack() { for (;;); } on_congestion() {} }")
    press(browser, "#script-run")
    browser.until("document.body.textContent.includes('does not return')")
    typed(browser, "#toml", 'duration = "2s"\nnetwork = { kind = "dumbbell", flows = 3 }\n')
    browser.until(f"{SHOWN} && {NUMBERS}.length === 3")


def broken(content, letters=10**9):
    packed = zlib.compress(content.encode(), 9, -zlib.MAX_WBITS)
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")[:letters]


@pytest.mark.parametrize(
    ("letters", "message"),
    [
        (broken(json.dumps({"document": WORLD, "seed": 1}), 40), "holds no scenario that can be read"),
        ("A" * 10_000, "holds no scenario that can be read"),
        (broken("null"), "holds no scenario that can be read"),
        (broken(json.dumps({"document": {"x": "a" * 10_000_000}})), "more than 4 MiB"),
        (broken(json.dumps({"document": {**WORLD, "duration": "<img src=x onerror=\"window.harm = 1\">"}})), "<img src=x"),
        (broken(json.dumps({"document": {**WORLD, "network": {"kind": "dumbbell", "flows": 10**9}}})), "flows"),
        (broken(json.dumps({"document": {**WORLD, "tcp": {"cc": {"python": "evil.py:Reno"}}}})), "evil.py:Reno"),
        (broken(json.dumps({"document": {**WORLD, "network": LARGE}})), "its limit is 512 MB"),
    ],
    ids=["cut", "letters", "null", "bomb", "script", "flows", "python", "memory"],
)  # fmt: skip
def test_a_hostile_link_is_told(browser, address, letters, message):
    fresh(browser, f"{address}#bench/{letters}")
    browser.until(f"[...document.querySelectorAll('.mistake')].some((one) => one.textContent.includes({json.dumps(message)}))")
    assert browser.js("window.harm === undefined && document.querySelector('main img') === null")


def test_no_script_but_those_of_the_page_is_executed(browser, address):
    fresh(browser, address)
    browser.until(SHOWN)
    browser.js("document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.harm = 1' })); 1")
    assert browser.js("window.harm === undefined")
    # What DevTools evaluates is above the policy; what it leaves to the page is not.
    browser.js(
        "setTimeout('window.harm = 1'); "
        "setTimeout(() => { try { new Function('window.harm = 1')(); } catch {} window.tried = 1; }, 50); 1"
    )
    browser.until("window.tried === 1")
    assert browser.js("window.harm === undefined")


def test_a_long_run_is_stopped_and_a_thousand_flows_are_shown(browser, address):
    many = {"kind": "dumbbell", "pairs": 1000, "flows": 1000, "bottleneck": {"rate": "1Gbps"}}
    fresh(browser, links.write({"duration": "1000s", "network": many}, 1, address))
    browser.until("document.querySelector('#run-state').dataset.phase === 'running'")
    press(browser, ".controls button:nth-child(3)")
    browser.until("document.querySelector('#run-state').dataset.phase === 'stopped'")
    assert "the first 24 of 1000 flows are drawn" in browser.js("document.querySelector('#more-flows').textContent")


@pytest.mark.parametrize("view", ["studies", "algorithms/cubic"])
def test_what_needs_a_machine_says_so(browser, address, view):
    fresh(browser, f"{address}#{view}")
    browser.until("document.body.textContent.includes('needs a machine') || document.querySelector('#measure')")


def test_in_large_one_plot_and_one_slider_fit_on_a_projector(browser, address):
    browser.open(address, 1024, 768)
    browser.until(SHOWN)
    press(browser, "#large")
    browser.until(f"document.querySelector('#panel') && {SHOWN}")
    assert browser.js("[document.querySelectorAll('.plot').length, document.querySelectorAll('.slider').length]") == [1, 1]
    assert browser.js("document.documentElement.scrollHeight <= innerHeight")
    small = "[...document.querySelectorAll('body *')].filter((e) => e.offsetParent && e.textContent && !e.children.length)"
    assert browser.js(f"Math.min(...{small}.map((e) => parseFloat(getComputedStyle(e).fontSize)))") >= 18
    press(browser, "#large")
    browser.until("document.querySelectorAll('.plot').length > 1 && document.querySelectorAll('.slider').length > 1")


def test_an_embedded_link_shows_plots_and_sliders_alone(browser, address):
    fresh(browser, f"{links.write(WORLD, 7, address)}&embed")
    browser.until(SHOWN)
    seen = "(name) => document.querySelector(name).offsetParent !== null"
    names = ["header.top", "#toml", ".sliders", "figure.series"]
    assert browser.js(f"{json.dumps(names)}.map({seen})") == [False, False, True, True]
