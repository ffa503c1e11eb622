#!/usr/bin/env python3
# SPDX-FileCopyrightText: Gradient Lab contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One exchange of a dense gradient of 17.8 MB over loopback, beside the all-reduce of PyTorch's Gloo.

usage: exchange_vs_gloo.py [--program build/release/bin/gradlab-cli] [--python /usr/bin/python3] [--rounds 20]

Needs PyTorch (Debian: python3-torch) for --python. Ours: the communication of whole training steps of a model with
4 444 800 parameters and next to no computing (batch 1 a worker, 2 rows), without overlap: from the last hand-over to the
last arrival at any worker, hashing and a dense ring's adding included, as in Gloo; encoding, the server's summing and decoding are
apart. Gloo: all_reduce of as many floats between as many processes. Medians; for 2 and 4 processes. Bounds: ring 1.2 times Gloo at 2 and 1.5 at 4, server 2.5 times; top-k
1 % at most a tenth of our dense in the same topology. Ends with the number of bounds that do not hold.
"""
import argparse, json, os, statistics, subprocess, sys, tempfile

GLOO = """
import os, sys, time, statistics, torch, torch.distributed as dist, torch.multiprocessing as mp
def work(rank, n, rounds, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port)); torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=n); g = torch.randn(4444800); times = []
    for _ in range(rounds + 3):
        dist.barrier(); begin = time.perf_counter(); dist.all_reduce(g); times.append(time.perf_counter() - begin); g /= n
    worst = torch.tensor(times[3:], dtype=torch.float64); dist.all_reduce(worst, op=dist.ReduceOp.MAX)
    if rank == 0: print(statistics.median(worst.tolist()))
if __name__ == "__main__": mp.spawn(work, args=(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])), nprocs=int(sys.argv[1]))
"""


def gloo(python, workers, rounds, folder):
    script = os.path.join(folder, "gloo.py")
    with open(script, "w") as file:
        file.write(GLOO)
    out = subprocess.run([python, script, str(workers), str(rounds), str(29500 + os.getpid() % 1000)], check=True,
                         capture_output=True, text=True).stdout
    return float(out.strip().splitlines()[-1])


def ours(program, workers, topology, method, rounds, folder):
    log = os.path.join(folder, f"{workers}-{topology}-{method}.jsonl")
    subprocess.run([program, "train", "--transport", "zmq", "--workers", str(workers), "--corpus", "builtin:kjv", "--hidden",
                    "300", "--vocabulary", "10000", "--batch", str(workers), "--bptt", "2", "--no-overlap", "--topology",
                    topology, "--method", method, "--steps", str(rounds + 3), "--eval-every", "1000000", "--eval-batch", "2000",
                    "--lr", "0.1", "--per-worker", "--log", log, "--quiet"], check=True)
    last = {}
    with open(log) as lines:
        for record in map(json.loads, lines):
            if record["kind"] == "worker" and record["step"] > 3:  # the first steps warm up
                t = record["t"]
                last[record["step"]] = max(last.get(record["step"], 0.0), t["transfer"] + t["wait"])
    return statistics.median(last.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/bin/gradlab-cli")
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--rounds", type=int, default=20)
    args = parser.parse_args()
    broken = 0

    def check(what, ratio, bound):
        nonlocal broken
        broken += ratio > bound
        print(f"  {what:28} {ratio:6.2f}  bound {bound:4.2f}  {'ok' if ratio <= bound else 'BROKEN'}", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        for workers, ring_bound in ((2, 1.2), (4, 1.5)):
            reference = gloo(args.python, workers, args.rounds, folder)
            print(f"{workers} processes: Gloo {reference * 1e3:.1f} ms")
            for topology, bound in (("ring", ring_bound), ("server", 2.5)):
                dense = ours(args.program, workers, topology, "none", args.rounds, folder)
                sparse = ours(args.program, workers, topology, "topk", args.rounds, folder)
                print(f"  {topology}: dense {dense * 1e3:.1f} ms, top-k {sparse * 1e3:.2f} ms")
                check(f"{topology} dense / Gloo", dense / reference, bound)
                check(f"{topology} top-k / dense", sparse / dense, 0.1)
    return broken


sys.exit(main())
