#!/usr/bin/env python3
# SPDX-FileCopyrightText: Gradient Lab contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Does compression pay where `gradlab-cli bench` says that it does?

usage: break_even.py [--program build/release/bin/gradlab-cli] [--workers 2] [--rounds 3] [--steps 10]

Takes each method's rate from bench's "pays" (the study's medium model, batch 8, 5 rows, so that a step is little else
than sending), then trains with the method and without compression on an emulated link of half and of twice that rate,
alternating, without overlap. What counts is the time of a step that is not computing: compressing, decoding, the
server, and the link. Below the rate the method must be the faster one, above it the other; "always" is tried at
100 Gbit/s. Ends with the number of cells where the measured winner is another one.
"""
import argparse, json, statistics, subprocess, sys

MODEL = ["--hidden", "300", "--vocabulary", "10000", "--batch", "8", "--bptt", "5"]
FAST = 100e9  # bit/s, for what pays at any rate


def run(program, *options):
    return json.loads(subprocess.run([program, "bench", *options], check=True, capture_output=True, text=True).stdout)


def options_of(pays):
    options = ["--method", pays["method"]]
    if "ratio" in pays:
        options += ["--ratio", str(pays["ratio"])]
    if pays["method"] == "qsgd":
        options += ["--levels", str(pays["levels"]), "--level-code", "fixed"]
    return options


def sending(program, args, method, rate, values):
    line = run(program, "train", *MODEL, *method, "--values", values, "--workers", str(args.workers), "--steps", str(args.steps),
               "--no-overlap", "--emulate", "--latency", "0ms", "--bandwidth", f"{rate / 1e6:.6g}Mbit")
    t = line["t"]
    return t["compress"] + t["encode"] + t["decode"] + t["transfer"] + t["wait"] + line["aggregate_cpu"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/bin/gradlab-cli")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=10)
    args = parser.parse_args()
    document = run(args.program, "--models", "medium", "--batch", "8", "--bptt", "5", "--worker-counts", str(args.workers),
                   "--steps", str(args.steps), "--rounds", "1")
    wrong = 0
    print(f"{'method':10} {'beside':6} {'rate, Gbit/s':>12} {'link, Gbit/s':>12} {'with, ms':>9} {'without, ms':>11}")
    for pays in document["pays"]:
        for values in ("f32", "f16"):
            limit = pays[f"bits_per_second_below_{values}"]
            cells = [(FAST, True)] if limit == "always" else [(limit / 2, True), (limit * 2, False)]
            for rate, expected in cells:
                times = {True: [], False: []}
                for _ in range(args.rounds):
                    times[True].append(sending(args.program, args, options_of(pays), rate, "auto"))
                    times[False].append(sending(args.program, args, ["--method", "none"], rate, values))
                own, dense = (statistics.median(times[which]) * 1e3 for which in (True, False))
                agrees = (own < dense) == expected
                wrong += not agrees
                print(f"{pays['method']:10} {values:6} {limit if limit == 'always' else f'{limit / 1e9:.2f}':>12} {rate / 1e9:12.2f} "
                      f"{own:9.2f} {dense:11.2f}  {'ok' if agrees else 'WRONG'}", flush=True)
    return wrong


sys.exit(main())
