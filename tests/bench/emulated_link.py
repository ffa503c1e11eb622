#!/usr/bin/env python3
# SPDX-FileCopyrightText: Gradient Lab contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Does an emulated link take what the link model says?

usage: emulated_link.py [--program build/release/bin/gradlab-cli]

Runs 5 steps of hidden 100 with 2 worker processes and --no-overlap for 10 Mbit/s, 100 Mbit/s and 1 Gbit/s, server and
ring, none, top-k 1 % and QSGD. Compares the median of the measured communication (from the last hand-over to the last
arrival of any worker: transfer + wait + the server's own work) with the contract's link model. A cell is right within 10 % or 2 ms,
whichever is larger. Prints one line a cell; ends with the number of wrong ones.
"""
import argparse, json, os, statistics, subprocess, sys, tempfile

LATENCY, WORKERS = 1e-3, 2


def model(topology, method, rate, record):
    up, down = 8 * record["bytes_message"] / rate, 8 * record["bytes_down"] / rate
    if topology == "server":
        return 2 * LATENCY + WORKERS * (up + down)
    if method == "none":
        return 2 * (WORKERS - 1) * (LATENCY + up / WORKERS)
    return (WORKERS - 1) * (LATENCY + up)


def steps(program, topology, method, rate, folder):
    log = os.path.join(folder, f"{topology}-{method}-{rate:.0f}.jsonl")
    subprocess.run([program, "train", "--transport", "zmq", "--workers", str(WORKERS), "--hidden", "100", "--batch", "32",
                    "--bptt", "10", "--steps", "5", "--eval-every", "1000", "--eval-batch", "400", "--emulate",
                    "--bandwidth", f"{rate:.0f}", "--latency", f"{LATENCY}s", "--no-overlap", "--topology", topology,
                    "--method", method, "--per-worker", "--log", log, "--quiet"], check=True)
    with open(log) as lines:
        records = list(map(json.loads, lines))
    found = [r for r in records if r["kind"] == "step"]
    for step in found:  # the last arrival is that of the worker that waited longest
        step["communication"] = step["aggregate_cpu"] + max(
            r["t"]["transfer"] + r["t"]["wait"] for r in records if r["kind"] == "worker" and r["step"] == step["step"])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/bin/gradlab-cli")
    program = parser.parse_args().program
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for topology in ("server", "ring"):
            for method in ("none", "topk", "qsgd"):
                for rate in (10e6, 100e6, 1e9):
                    records = steps(program, topology, method, rate, folder)
                    expected = model(topology, method, rate, records[-1])
                    measured = statistics.median(r["communication"] for r in records)
                    right = abs(measured - expected) <= max(0.1 * expected, 2e-3)
                    wrong += not right
                    print(f"{topology:7} {method:5} {rate / 1e6:6.0f} Mbit/s  model {expected * 1e3:9.2f} ms  "
                          f"measured {measured * 1e3:9.2f} ms  {'ok' if right else 'WRONG'}", flush=True)
    return wrong


sys.exit(main())
