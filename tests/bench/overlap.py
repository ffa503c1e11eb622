#!/usr/bin/env python3
# SPDX-FileCopyrightText: Gradient Lab contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of the communication that could hide behind computing does hide?

usage: overlap.py [--program build/release/bin/gradlab-cli] [--hidden 300] [--vocabulary 10000] [--batch 256] [--steps 4]
                  [--corpus builtin:kjv]

Trains with 2 worker processes over an emulated link of 100 Mbit/s (server topology), tied and untied, none and top-k
1 %. From each part's logged ready time and the link's rate follows when the uplink could be busy at the earliest; what of
that lies before a worker's last hand-over could at best be hidden. Prints best and measured hidden seconds a step; a
cell is right at 80 % of the best, or where less than 1 ms could hide. Ends with the number of wrong cells.
"""
import argparse, json, os, statistics, subprocess, sys, tempfile

RATE, WORKERS = 100e6, 2


def best_hidden(parts):
    """Seconds before the last part is ready in which the worker's link is busy, if nothing delays it."""
    end, free, busy = parts[-1][0], 0.0, 0.0
    for ready, size in parts:
        start = max(ready, free)
        free = start + 8 * size / RATE
        busy += max(0.0, min(free, end) - min(start, end))
    return busy


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/bin/gradlab-cli")
    parser.add_argument("--corpus", default="builtin:kjv")
    for name, default in (("hidden", 300), ("vocabulary", 10000), ("batch", 256), ("steps", 4)):
        parser.add_argument("--" + name, type=int, default=default)
    args = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for tied in (True, False):
            for method in ("none", "topk"):
                log = os.path.join(folder, f"{tied}-{method}.jsonl")
                subprocess.run([args.program, "train", "--transport", "zmq", "--workers", str(WORKERS), "--corpus", args.corpus,
                                "--hidden", str(args.hidden), "--vocabulary", str(args.vocabulary), "--batch", str(args.batch),
                                "--steps", str(args.steps), "--eval-every", "1000000", "--eval-batch", "1000", "--emulate",
                                "--bandwidth", "100Mbit", "--latency", "0.1ms", "--method", method, "--per-worker",
                                "--log", log, "--quiet"] + ([] if tied else ["--untied"]), check=True)
                with open(log) as lines:
                    workers = [r for r in map(json.loads, lines) if r["kind"] == "worker" and r["step"] > 1]
                best = statistics.mean(best_hidden(r["parts"]) for r in workers)
                hidden = statistics.mean(r["t"]["transfer_hidden"] for r in workers)
                exposed = statistics.mean(r["t"]["transfer"] + r["t"]["wait"] for r in workers)
                right = best < 1e-3 or hidden >= 0.8 * best
                wrong += not right
                print(f"{'tied' if tied else 'untied':6} {method:5} best {best * 1e3:8.2f} ms  hidden {hidden * 1e3:8.2f} ms  "
                      f"exposed {exposed * 1e3:9.2f} ms  {'ok' if right else 'WRONG'}", flush=True)
    return wrong


sys.exit(main())
