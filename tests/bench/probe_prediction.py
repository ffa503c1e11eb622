#!/usr/bin/env python3
# SPDX-FileCopyrightText: Gradient Lab contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Does a step over a real network take what gradlab-cli probe predicts?

usage: probe_prediction.py [--program build/release/bin/gradlab-cli] [--networks raw 1000] [--workers 2 4] [--steps 25]
                           [--hidden 200] [--vocabulary 10000] [--batch 32] [--bptt 20]

Coordinator and workers are in network namespaces of their own, connected by veth pairs to one bridge, nothing emulated.
`raw` is a network as fast as this machine copies; a number of Mbit/s shapes every end of every pair by the kernel's
token bucket (tc tbf; left out with a word where the kernel has none). In each network gradlab-cli probe --wait-for N predicts the
step of none, top-k 1 % and QSGD, with and without overlap; then gradlab-cli train makes those steps there and the median of their
wall time is compared. A cell is right within 15 %. Prints one line a cell; ends with the number of wrong ones. Needs
root and the program ip. All hosts share this machine's cores: `others` is what share of them other programs used
meanwhile; where that is more than a few per cent a cell says nothing.
"""
import argparse, contextlib, json, os, resource, signal, statistics, subprocess, sys, tempfile

BOUND = 0.15
HEAD = "tcp://10.77.0.1:5555"


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True)


def seconds():
    """All cores' time so far, what of it they worked, and what of that was for processes of this script."""
    with open("/proc/stat") as file:
        ticks = [int(word) / os.sysconf("SC_CLK_TCK") for word in file.readline().split()[1:9]]
    own = resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(ticks), sum(ticks) - ticks[3] - ticks[4], own.ru_utime + own.ru_stime


class Network:
    """Host 0 is the coordinator's. Every host has one address, all are at one bridge."""

    def __init__(self, hosts):
        self.prefix = f"glab{os.getpid()}-"
        self.switch = self.prefix + "s"
        self.names = [self.prefix + str(host) for host in range(hosts)]

    def __enter__(self):
        for name in [self.switch, *self.names]:
            ip("netns", "add", name)
        ip("-n", self.switch, "link", "add", "bridge0", "type", "bridge")
        ip("-n", self.switch, "link", "set", "bridge0", "up")
        for host, name in enumerate(self.names):
            ip("link", "add", "eth", "netns", name, "type", "veth", "peer", "name", f"port{host}", "netns", self.switch)
            ip("-n", name, "addr", "add", f"10.77.0.{host + 1}/24", "dev", "eth")
            ip("-n", name, "link", "set", "lo", "up")
            ip("-n", name, "link", "set", "eth", "up")
            ip("-n", self.switch, "link", "set", f"port{host}", "master", "bridge0", "up")
        return self

    def __exit__(self, *_):
        for name in [self.switch, *self.names]:
            subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL)

    def shape(self, rate):
        """False where the kernel cannot. A bucket of 0.2 ms: more would let whole messages pass it by."""
        burst = max(4000, int(float(rate) * 1e6 / 8 * 2e-4))
        ends = [(name, "eth") for name in self.names] + [(self.switch, f"port{host}") for host in range(len(self.names))]
        return all(subprocess.run(["ip", "netns", "exec", name, "tc", "qdisc", "add", "dev", device, "root", "tbf", "rate",
                                   f"{rate}mbit", "burst", str(burst), "limit", "1mb"], stderr=subprocess.DEVNULL).returncode == 0
                   for name, device in ends)

    def start(self, host, *command):
        return subprocess.Popen(["ip", "netns", "exec", self.names[host], *command],
                                stdout=subprocess.PIPE if host == 0 else subprocess.DEVNULL,
                                stderr=None if host == 0 else subprocess.DEVNULL)

    def run(self, program, workers, *arguments):
        """What a coordinator prints whose workers come from the other hosts."""
        with contextlib.ExitStack() as processes:
            head = self.start(0, program, *arguments, "--workers", str(workers), "--wait-for", str(workers), "--bind", HEAD,
                              "--insecure")
            processes.callback(head.kill)
            for host in range(1, workers + 1):
                worker = self.start(host, program, "worker", "--connect", HEAD, "--insecure", "--name", f"worker-{host - 1}")
                processes.callback(worker.wait)
                processes.callback(worker.terminate)
            printed = head.communicate()[0]
        if head.returncode != 0:
            sys.exit(f"gradlab-cli {' '.join(arguments)} ended with {head.returncode}")
        return printed


def measure(network, args, workers, experiment, method):
    """Seconds a step, and the share of this machine that others used meanwhile."""
    before = seconds()
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log.jsonl")
        network.run(args.program, workers, "train", "--transport", "zmq", *experiment, "--method", method, "--steps",
                    str(args.steps), "--eval-every", "1000000", "--eval-batch", "1000", "--log", log, "--quiet")
        with open(log) as lines:
            walls = [r["wall_s"] for r in map(json.loads, lines) if r["kind"] == "step"]
    total, busy, own = (after - begin for begin, after in zip(before, seconds()))
    return statistics.median(after - begin for begin, after in zip(walls, walls[1:])), max(0.0, busy - own) / total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/bin/gradlab-cli")
    parser.add_argument("--networks", nargs="+", default=["raw", "1000"])
    parser.add_argument("--workers", nargs="+", type=int, default=[2, 4])
    for name, default in (("steps", 25), ("hidden", 200), ("vocabulary", 10000), ("batch", 32), ("bptt", 20)):
        parser.add_argument("--" + name, type=int, default=default)
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))  # so that namespaces are removed
    wrong = 0
    for rate in args.networks:
        for workers in args.workers:
            with Network(1 + workers) as network:
                if rate != "raw" and not network.shape(rate):
                    print(f"{rate} Mbit/s: this kernel shapes no traffic (tc qdisc add … tbf)", flush=True)
                    continue
                for overlap in ([], ["--no-overlap"]):
                    experiment = ["--corpus", "builtin:kjv", "--hidden", str(args.hidden), "--vocabulary", str(args.vocabulary),
                                  "--batch", str(args.batch), "--bptt", str(args.bptt), *overlap]
                    probed = json.loads(network.run(args.program, workers, "probe", *experiment))
                    print(f"{rate:6} {workers} workers: {probed['link_options']}", flush=True)
                    for step in probed["predicted"]:
                        measured, others = measure(network, args, workers, experiment, step["method"])
                        off = step["step_s"] / measured - 1
                        wrong += abs(off) > BOUND
                        print(f"{rate:6} {workers} workers {step['method']:5} {'no overlap' if overlap else 'overlap   '}  "
                              f"predicted {step['step_s'] * 1e3:8.2f} ms  measured {measured * 1e3:8.2f} ms  {off:+5.0%}  "
                              f"{'WRONG' if abs(off) > BOUND else 'ok   '}  others {others:.0%}", flush=True)
    return wrong


sys.exit(main())
