"""Nothing that can be set is ignored: another value changes the resolved scenario, or is an error, or is the default itself."""

import copy
import json
import os

import pytest
import tomli
from mutation import SCENARIOS
from settable import settable

from tonopah._core import check
from tonopah.cc.binding import bind
from tonopah.errors import InputError, ScenarioError
from tonopah.reports.networks import NETWORKS
from tonopah.scenario.document import prepare
from tonopah.scenario.paths import put
from tonopah.spec.library import shipped
from tonopah.spec.source import sourced
from tonopah.study.study import Study

WHOLE = os.environ.get("TONOPAH_SETTABLE") == "all"
"""Every shipped scenario too (`make settable`), not one of each kind alone."""
SHIPPED = [part for name in shipped() for part in Study.load(name).spec.parts] if WHOLE else []


def resolved(scenario):
    return json.dumps(json.loads(check(bind(scenario).text))["resolved"], sort_keys=True)


def ignored(scenario):
    """Return the paths at which more than one value, that is more than the default, does nothing and is not refused."""
    before = resolved(scenario)
    found = []
    for path, _, values in settable(json.loads(before)):
        idle = []
        words = [value for value in values if isinstance(value, str)]
        # Beside words true and false stand for two of them.
        for value in words or values:
            changed = copy.deepcopy(scenario)
            try:
                put(changed, path, value)
                if resolved(changed) == before:
                    idle.append(value)
            except ScenarioError:
                continue
        if len(idle) > 1:
            found.append(path)
    return found


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario["network"]["kind"])
def test_every_path_of_a_scenario_has_an_effect(scenario):
    assert [path for path in ignored(scenario) if not stated_by_every_flow(scenario, path)] == []


def stated_by_every_flow(scenario, path):
    """Tell whether a setting of all flows is one that every flow states for itself."""
    table, _, key = path.partition(".")
    flows = scenario.get("flow", [])
    return table == "tcp" and bool(flows) and all(key in flow.get("tcp", {}) for flow in flows)


@pytest.mark.parametrize("part", SHIPPED, ids=lambda part: part.id)
def test_every_path_of_a_shipped_scenario_has_an_effect(part):
    changes = part.variants[0].changes
    scenario = sourced(part.scenario, changes).run_of() if "source" in part.scenario else prepare(part.scenario, changes)[0]
    assert [path for path in ignored(scenario) if not stated_by_every_flow(scenario, path)] == []


def alternatives(parameter):
    """Return other values of a parameter of a script."""
    if parameter.is_algorithm:
        return [*parameter.choices[1:], "bbr", {"name": "cubic", "beta": 0.5}]
    if parameter.choices:
        return list(parameter.choices[1:])
    if isinstance(parameter.default, bool):
        return [not parameter.default]
    near = [parameter.default + parameter.step, parameter.default * 2, parameter.least, parameter.most]
    return [type(parameter.default)(value) for value in near]


@pytest.mark.parametrize("one", NETWORKS, ids=lambda one: one.name)
def test_every_parameter_of_a_script_has_an_effect_or_a_reason(one):
    """Beside every algorithm of the script: the network changes, the value is refused, or a warning says why not."""
    algorithms = [key for key, parameter in one.parameters.items() if parameter.is_algorithm]
    assert algorithms
    for base in ({algorithms[0]: value} for value in one.parameters[algorithms[0]].choices):
        before = one.scenario(base)
        for key, parameter in one.parameters.items():
            for value in alternatives(parameter) if key not in base else ():
                try:
                    found = sourced(f"reports:{one.name}", {f"script.{name}": own for name, own in (base | {key: value}).items()})
                except InputError as error:
                    assert error.path == f"script.{key}"
                    continue
                said = [text for text in found.warnings if text.startswith(f"script.{key}")]
                assert found.run_of() != before or said or value == parameter.default, (base, key, value)
                assert not (parameter.inert and value != parameter.default) or said


@pytest.mark.parametrize("key", ["tcp.cc", "tcp.mss", "traffic.app.rate", "duration", "network.pairs", "warmup"])
def test_what_a_script_fixes_cannot_be_set(key):
    with pytest.raises(InputError, match=r"has no meaning: the script fixes it.*script has algorithm"):
        sourced("reports:tcp-fr-comparison", {key: "newreno"})


STUDY = """
question = "Is mine better?"
replicates = 2
baseline = "newreno"
scenario = { source = "reports:tcp-fr-comparison" }
compare.variant = [
    { label = "newreno", set = { "script.algorithm" = "newreno" } },
    { label = "fr", set = { "script.algorithm" = "fr" } },
]
sweep = [{ vary = { "script.packets_per_s" = [100, 500] } }]
figure = [{ kind = "line", x = "script.packets_per_s", y = ["ns3_pooled.delay_s"] }]
"""


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ("compare.variant", 'compare.cc = ["vegas", "bbr"]\ncompare.variant', "scenario.tcp"),
        ('"script.algorithm" = "fr"', '"tcp.cc" = "bbr"', "scenario.tcp"),
        ('"script.algorithm" = "fr"', '"script.floor" = 2', "scenario.script.floor"),
        ('{ "script.algorithm" = "fr" }', '{ "script" = { floor = 2 } }', "scenario.script.floor"),
        ("sweep = [", 'sweep = [{ vary = { "duration" = ["5s"] } }, ', "scenario.duration"),
        ('comparison" }', 'comparison", tcp = { mss = "500B" } }', "scenario.tcp"),
        ('"script.algorithm" = "fr"', '"script.algorithm" = "bbr", "script.bits_as_bytes" = false', "script.bits_as_bytes"),
    ],
)
def test_a_study_refuses_what_changes_nothing(old, new, path):
    assert old in STUDY
    with pytest.raises(InputError) as refused:
        assert Study.load(tomli.loads(STUDY.replace(old, new))).plan
    assert path in str(refused.value)


def test_an_axis_that_every_flow_states_for_itself_is_refused(study_document):
    """Each flow has its own `sack`, so that of all flows is nobody's."""
    flow = {"from": "source0", "to": "sink", "tcp": {"sack": True}}
    scenario = {
        "duration": "1s", "network": {"kind": "graph"}, "node": [{"name": "source0"}, {"name": "sink"}], "flow": [flow],
        "link": [{"from": "source0", "to": "sink", "rate": "1Mbps", "delay": "1ms"}],
    }  # fmt: skip
    document = {
        "question": "?", "scenario": scenario, "compare": {"cc": ["newreno"]}, "sweep": [{"vary": {"tcp.sack": [True, False]}}],
    }  # fmt: skip
    with pytest.raises(InputError, match=r"scenario\.tcp\.sack: has no effect: its 2 values"):
        assert Study.load(document).plan


def test_what_one_of_the_compared_needs_may_stand_for_all():
    """A slip of FR is switched off for both; NewReno never had it."""
    text = STUDY.replace('comparison" }', 'comparison", script = { floor = 2 } }')
    assert Study.load(tomli.loads(text)).plan.runs
    with pytest.raises(InputError, match=r"script\.floor: has no effect"):
        assert Study.load(tomli.loads(text.replace('"script.algorithm" = "fr"', '"script.algorithm" = "bbr"'))).plan
