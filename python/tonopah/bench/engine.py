"""Runs one scenario in a process of its own and tells what it cost.

Called as engine.py EXTENSION SEED < scenario.json. It loads the extension alone, not the package, so that the peak memory of the
process is that of the run and of a bare Python.
"""

import importlib.util
import json
import resource
import sys


def value(summary: str, key: str) -> dict | int:
    """Return the first value with this key. A summary of 100,000 flows read as a whole would be the peak of the memory."""
    head = f'"{key}":'
    return json.JSONDecoder().raw_decode(summary, summary.index(head) + len(head))[0]


def main() -> None:
    """Run the scenario on standard input; print CPU seconds of the run, packets, events and frames."""
    path, seed = sys.argv[1:]
    spec = importlib.util.spec_from_file_location("_core", path)
    core = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(core)
    scenario = sys.stdin.read()
    before = resource.getrusage(resource.RUSAGE_SELF)
    text = core.run(scenario, int(seed))[0].json()
    after = resource.getrusage(resource.RUSAGE_SELF)
    network = value(text, "network")
    result = {
        "cpu_s": after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime,
        "goodput_bps": network["goodput_bps"],
        "flows_without_delivery": network["flows_without_delivery"],
        "events": value(text, "events"),
        "data_frames": network["mac_data_frames"],
        "control_frames": network["mac_control_frames"],
        "energy_j": network["energy_j"],
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
