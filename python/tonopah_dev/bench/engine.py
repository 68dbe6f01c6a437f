"""Runs one scenario in a process of its own and tells what it cost.

Called as engine.py EXTENSION SEED < scenario.json. It loads the extension alone, not the package, so that the peak memory of the
process is that of the run and of a bare Python.
"""

import importlib.util
import json
import resource
import sys
import tempfile


def cpu_s() -> float:
    """Return the CPU time of this process so far, in seconds."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def no_time(scenario: str) -> str:
    """Return the same world with a duration in which next to nothing happens; listed flows start at once."""
    world = json.loads(scenario)
    flows = [{**flow, "start": "0s"} for flow in world.get("flow", ())]
    return json.dumps({**world, "duration": "1us", **({"flow": flows} if flows else {})})


def main() -> None:
    """Run the scenario on standard input; print its CPU seconds, those of its set-up, its peak memory, and what it counted."""
    path, seed = sys.argv[1:]
    spec = importlib.util.spec_from_file_location("_core", path)
    assert spec and spec.loader, path
    core = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(core)
    scenario = sys.stdin.read()
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/summary.json"
        before = cpu_s()
        summary = core.run(scenario, int(seed))[0]
        summary.write(file)
        after, peak_kib = cpu_s(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        # The same world for as good as no time: reading, building and the summary alone.
        core.run(no_time(scenario), int(seed))[0].write(file)
        setup = cpu_s() - after
    network = json.loads(summary.network())
    result = {
        "cpu_s": after - before,
        "setup_cpu_s": setup,
        "memory_mib": peak_kib / 1024,
        "goodput_bps": network["goodput_bps"],
        "flows_without_delivery": network["flows_without_delivery"],
        "events": summary.events,
        "data_frames": network["mac_data_frames"],
        "control_frames": network["mac_control_frames"],
        "energy_j": network["energy_j"],
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
