"""Prints validation loss against tokens and against emulated time: the median over the seeds, and the range."""
import json
import pathlib
import re
import statistics
import sys

SEQUENCES = 8  # of a step
TOKENS = SEQUENCES * 64
folder = pathlib.Path(sys.argv[1])


def losses(run):
    """Validation loss by steps done."""
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return {line["steps_done"]: line["validation_loss"] for line in lines if "validation_loss" in line}


def units(schedule, ranks):
    """Units of a step of 8 sequences with a full pipeline; the unit is the forward of a sequence through an eighth of the model."""
    text = (folder / f"{schedule}-{ranks}.schedule").read_text()
    found = re.search(r"each of \d+ steps? more: ([\d.]+) units?", text) or re.search(r": ([\d.]+) units;", text)
    return float(found[1]) * (SEQUENCES if schedule == "pipedream" else 1) * 8 / ranks


def shown(values):
    present = [value for value in values if value is not None]
    if len(present) < len(values):
        return f"{len(values) - len(present)} of {len(values)} diverged"
    return f"{statistics.median(present):.3f} ({min(present):.3f} to {max(present):.3f})"


def reached(points, loss):
    """The steps after which the loss is that or lower, on a straight line between two measurements; None for never."""
    known = sorted(points)
    for before, after in zip(known, known[1:]):
        if points[before] > loss >= points[after]:
            return before + (after - before) * (points[before] - loss) / (points[before] - points[after])
    return known[0] if known and points[known[0]] <= loss else None


def at(points, step):
    """The loss after a number of steps, on a straight line between two measurements."""
    before = max((known for known in points if known <= step), default=None)
    after = min((known for known in points if known >= step), default=None)
    if before is None or after is None:
        return None
    return points[before] if before == after else points[before] + (points[after] - points[before]) * (step - before) / (after - before)


runs = {}
for file in sorted(folder.glob("*/metrics.jsonl")):
    if not (folder / f"{file.parent.name}.txt").exists():
        continue  # under way
    schedule, ranks, optimizer, feedback, seed = re.fullmatch(r"(.*)-(\d+)-(\w+)-(\w+)-(\d+)", file.parent.name).groups()
    runs.setdefault((optimizer, schedule, int(ranks), feedback), {})[seed] = losses(file.parent)


def named(schedule, ranks, feedback):
    return schedule + (f", P = {ranks}" if ranks > 1 else "") + (", error feedback" if feedback == "feedback" else "")


steps = max(step for seeds in runs.values() for points in seeds.values() for step in points)
columns = [steps // 3, 2 * steps // 3, steps]
print("| optimizer | schedule | seeds | " + " | ".join(f"{step * TOKENS:,} tokens" for step in columns) + " | above 1f1b at the end |")
print("|---|---|---|" + "---|" * (len(columns) + 1))
for (optimizer, schedule, ranks, feedback), seeds in sorted(runs.items()):
    synchronous = runs[(optimizer, "1f1b", 1, "plain")]
    above = [None if steps not in points else points[steps] - synchronous[seed][steps]
             for seed, points in seeds.items() if seed in synchronous]
    print(f"| {optimizer} | {named(schedule, ranks, feedback)} | {len(seeds)} | "
          + " | ".join(shown([points.get(step) for points in seeds.values()]) for step in columns)
          + f" | {'' if schedule == '1f1b' else shown(above)} |")

for ranks in (4, 8):
    end = steps * units("pipedream-2bw", ranks)
    print(f"\n| P = {ranks} | units of a step | loss after {end:,.0f} units | units to the loss of 1f1b after {2 * steps // 3} steps"
          " | of those of 1f1b |")
    print("|---|---|---|---|---|")
    for (optimizer, schedule, of, feedback), seeds in sorted(runs.items()):
        if of not in (1, ranks):
            continue
        step = units(schedule, ranks)
        shares = []
        times = []
        for seed, points in seeds.items():
            if seed not in runs[(optimizer, "1f1b", 1, "plain")]:
                continue
            needed = reached(points, runs[(optimizer, "1f1b", 1, "plain")][seed][2 * steps // 3])
            times.append(None if needed is None else needed * step)
            shares.append(None if needed is None else needed * step / (2 * steps // 3 * units("1f1b", ranks)))
        late = sum(value is None for value in times)
        time = f"{late} of {len(times)} do not reach it" if late else f"{statistics.median(times):,.0f}"
        share = "" if late else f"{statistics.median(shares):.2f} ({min(shares):.2f} to {max(shares):.2f})"
        print(f"| {optimizer}, {named(schedule, 1, feedback)} | {step:.0f} | "
              f"{shown([at(points, end / step) for points in seeds.values()])} | {time} | {share} |")
