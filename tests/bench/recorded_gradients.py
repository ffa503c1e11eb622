#!/usr/bin/env python3
# SPDX-FileCopyrightText: Gradient Lab contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many bytes real gradients take, beside the least that they could.

usage: recorded_gradients.py [--program build/release/bin/gradlab-cli] [--keep DIR] [--steps 2,150,300]

Trains on the King James text (bible-kjv) with top-k 1 % as the README does, keeps worker 0's gradient of an early, a
middle and a late step, and compresses each tensor by top-k at three ratios and by QSGD at three level counts, codes
chosen by the lab. Printed, summed over tensors, payload only: bits of the indices over log2 C(n,k), bits of the levels
over their empirical entropy, and bytes beside the study's count (bytes_paper). An index or level code within 5 % of its
bound is ok. --keep leaves the gradients in DIR for compare_with_torch.py --gradient. Ends with the number of broken bounds.
"""
import argparse, json, math, os, subprocess, sys, tempfile

TRAIN = ["train", "--corpus", "builtin:kjv", "--hidden", "100", "--batch", "256", "--workers", "4", "--method", "topk",
         "--ratio", "0.01", "--eval-every", "100", "--quiet"]
RATIOS, LEVELS = (0.1, 0.01, 0.001), (4, 16, 64)
HEADERS = 64 + 32  # bytes of a frame's header and a tensor's descriptor
FLOAT = 4  # bytes of a value or of a norm
MOST = 1.05


def log2_choose(n, k):
    return (math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)) / math.log(2)


def compress(program, gradient, *options):
    done = subprocess.run([program, "compress", "--in", gradient, "--memory", "none", *map(str, options)], check=True,
                          capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/bin/gradlab-cli")
    parser.add_argument("--keep")
    parser.add_argument("--steps", default="2,150,300")
    args = parser.parse_args()
    steps = [int(step) for step in args.steps.split(",")]
    broken = 0
    with tempfile.TemporaryDirectory() as scratch:
        run = os.path.join(args.keep or scratch, "kjv")
        subprocess.run([args.program, *TRAIN, "--steps", str(max(steps)), "--record-gradients", args.steps, "--out", run], check=True)
        print(f"{'step':>5} {'method':6} {'parameter':>9} {'payload':>9} {'paper':>9}  {'bits of codes':>13} {'least':>11}  ratio")
        for step in steps:
            gradient = os.path.join(run, "gradients", f"step-{step}.safetensors")
            for method, parameter in [("topk", ratio) for ratio in RATIOS] + [("qsgd", levels) for levels in LEVELS]:
                lines = compress(args.program, gradient, "--method", method, "--ratio" if method == "topk" else "--levels", parameter)
                payload = sum(line["bytes_message"] - HEADERS for line in lines)
                if method == "topk":
                    bits = 8 * (payload - FLOAT * sum(line["selected"] for line in lines))
                    least = sum(log2_choose(line["n"], line["selected"]) for line in lines)
                else:
                    bits = 8 * (payload - FLOAT * len(lines))
                    least = 8 * sum(line["bound_bytes"] for line in lines)
                good = bits <= MOST * least
                broken += not good
                print(f"{step:5} {method:6} {parameter:9g} {payload:9} {sum(line['bytes_paper'] for line in lines):9.0f}  {bits:13} "
                      f"{least:11.0f}  {bits / least:5.3f}  {'ok' if good else 'BROKEN'}", flush=True)
    return broken


sys.exit(main())
