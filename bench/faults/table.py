"""Prints the faults of several chaos.json as one table: a row for each fault, a line for each run."""
import json
import pathlib
import sys


def millis(fault, name):
    return f"{1000 * fault[name]:.0f} ms" if name in fault else "-"


def kept(run):
    share = run["throughput_kept"]
    return "-" if share is None else f"{100 * share:.0f} %"


def ending(run):
    missed = run.get("faults_missed", 0)
    return ("the same bits" if run["equal"] else run["difference"]) + (f", {missed} did not strike" if missed else "")


runs = {pathlib.Path(path).parent.name: json.loads(pathlib.Path(path).read_text()) for path in sys.argv[1:]}
print("| run | fault | struck at | detected after | restarted after | caught up after |")
print("|---|---|---|---|---|---|")
for name, run in runs.items():
    for fault in run["faults"]:
        where = f"stage {fault['stage']}, {fault['point']}" if "stage" in fault else "never"
        print(f"| {name} | `{fault['fault']}` | {where} | {millis(fault, 'seconds_to_detect')} "
              f"| {millis(fault, 'seconds_to_restart')} | {millis(fault, 'seconds_to_catch_up')} |")
print()
print("| run | median step, undisturbed | steps lost | on from a checkpoint | throughput kept | in the end |")
print("|---|---|---|---|---|---|")
for name, run in runs.items():
    seconds = sorted(step["seconds"] for step in run["undisturbed"]["steps"])
    print(f"| {name} | {1000 * seconds[len(seconds) // 2]:.0f} ms | {run['steps_lost']} | {run['resumed']} "
          f"| {kept(run)} | {ending(run)} |")
