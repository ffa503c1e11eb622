#!/usr/bin/python3
# SPDX-FileCopyrightText: Gradient Lab contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Is the lab's training, compressing and memory what it should be beside PyTorch's on the same machine?

usage: compare_with_torch.py [--program build/release/bin/gradlab-cli] [--python /usr/bin/python3] [--rounds 3] [--steps 3]
                             [--only training scaling memory compression overhead] [--gradient FILE.safetensors ...]
                             [--models small medium large default] [--kernels auto|found|NAME] [--markdown]

Needs PyTorch for --python and OpenBLAS under it (Debian: python3-torch, libopenblas0-pthread), an idle machine and a quarter of an
hour. Every number is the median of --rounds rounds in which the lab and PyTorch take turns (memory: one run each).

training: tokens a second of the study's small, medium and large model and of the built-in language's default one, on 2 threads,
beside the best of PyTorch on 1 thread, on 2 threads and as 2 processes. scaling: the medium model with two threads and with
two workers of a thread each. memory: four workers of the medium model beside one PyTorch process with the same batch; what top-k
and DGC add a worker, in vectors of the gradient's size. compression: one thread, one gradient, generated or
recorded, in plain copies of it and beside torch_peer.py's methods, of which the faster of sort and topk stands for top-k. The lab's
times are with memory and coding into bytes; bounds are against PyTorch without either, and the ratio to it with memory
is shown. overhead: CPU time of compressing over that of computing, medium model.

OpenBLAS may not know a processor and take kernels for an older one. --kernels auto gives PyTorch those of SkylakeX
where they are there and faster, found leaves the choice to OpenBLAS, a name is one of its core types.
Prints tables, then every bound with ok or BROKEN; ends with the number of broken ones, or 255 if it cannot compare.
"""
import argparse, json, os, statistics, subprocess, sys

PEER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_peer.py")
MODELS = {  # hidden, vocabulary, batch, times PyTorch's speed, share of the limit that does as well
    "small": (100, 10000, 256, 1.5, None),
    "medium": (300, 10000, 256, 2.0, 0.85),
    "large": (500, 10000, 256, 1.5, None),
    "default": (64, 300, 32, 3.0, None),
}
SETTINGS = {"1 thread": (1, 1), "2 threads": (2, 1), "2 processes": (1, 2)}  # threads each, processes
MEDIUM = ["--hidden", "300", "--vocabulary", "10000", "--batch", "256", "--bptt", "35", "--precision", "f32", "--lr", "1"]
ELEMENTS = 4444800  # of the medium model
RATIOS = (0.01, 0.001, 0.0001)
COMPRESSED = [  # method, its ratio or levels, copies it may take, times PyTorch's speed
    *(("topk", ratio, 4 if ratio == 0.01 else 3, 15) for ratio in RATIOS),
    *(("randomk", ratio, 4 if ratio == 0.01 else 3, 12) for ratio in RATIOS),
    *(("dgc", ratio, 6, 4) for ratio in RATIOS[:2]),
    ("qsgd", 64, 8, 8),
]


class Programs:
    """Runs either side; ends everything if one fails."""

    def __init__(self, args):
        self.args, self.kernels = args, {}

    def gradlab(self, *arguments):
        return json.loads(self.output([self.args.program, "bench", *map(str, arguments)], os.environ))

    def torch(self, threads, *arguments, kernels=None):
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads),
                       **(self.kernels if kernels is None else kernels)}
        lines = self.output([self.args.python, PEER, *map(str, arguments)], environment).splitlines()
        return [json.loads(line) for line in lines]

    @staticmethod
    def output(command, environment):
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            print(f"{' '.join(command)} ended with {done.returncode}", file=sys.stderr)
            sys.exit(255)
        return done.stdout

    def train(self, hidden, vocabulary, batch, *options):
        return self.gradlab("train", "--hidden", hidden, "--vocabulary", vocabulary, "--batch", batch, "--bptt", 35,
                            "--precision", "f32", "--lr", 1, "--steps", self.steps(batch), *options)

    def torch_train(self, threads, processes, hidden, vocabulary, batch):
        return self.torch(threads, "train", "--hidden", hidden, "--vocabulary", vocabulary, "--batch", batch, "--bptt", 35,
                          "--processes", processes, "--steps", self.steps(batch))[0]

    def steps(self, batch):
        return self.args.steps * 256 // batch  # small steps are many

    def median(self, measure):
        """Of each value that measure() returns."""
        rounds = [measure() for _ in range(self.args.rounds)]
        return [statistics.median(values) for values in zip(*rounds)]


class Bounds:
    def __init__(self):
        self.lines, self.broken = [], 0

    def check(self, what, value, relation, bound, holds=None):
        if holds is None:
            holds = value <= bound if relation == "<=" else value >= bound
        self.broken += not holds
        self.lines.append((what, value, relation, bound, holds))

    def text(self):
        return "\n".join(f"{what:58} {value:9.3f}  {relation} {bound:<6g} {'ok' if holds else 'BROKEN'}"
                         for what, value, relation, bound, holds in self.lines)

    def markdown(self):
        rows = [f"| {what} | {value:.3g} | {'≤' if relation == '<=' else '≥'} {bound:g}{'' if holds else ', missed'} |"
                for what, value, relation, bound, holds in self.lines]
        return "\n".join(["| what | measured | wanted |", "|---|---|---|", *rows])


def training(programs, bounds):
    print(f"\n{'tokens/s':8} {'lab':>9}" + "".join(f"{name:>13}" for name in SETTINGS) + "    ratio  share of limit")
    for name in programs.args.models:
        hidden, vocabulary, batch, bound, share_bound = MODELS[name]

        def measure():
            ours = programs.train(hidden, vocabulary, batch, "--workers", 1, "--threads", 2, "--method", "none")
            return [ours["share_of_limit"], ours["tokens_per_second"],
                    *(programs.torch_train(*setting, hidden, vocabulary, batch)["tokens_per_second"]
                      for setting in SETTINGS.values())]

        share, ours, *theirs = programs.median(measure)
        ratio = ours / max(theirs)
        print(f"{name:8} {ours:9.0f}" + "".join(f"{speed:13.0f}" for speed in theirs) + f"  {ratio:7.2f}  {share:14.2f}", flush=True)
        enough = share_bound is not None and share >= share_bound
        bounds.check(f"training, {name}: speed / PyTorch's" + (f" (share of limit {share:.2f} >= {share_bound})" if enough else ""),
                     ratio, ">=", bound, enough or ratio >= bound)


def scaling(programs, bounds):
    def measure():
        lines = [programs.gradlab("train", *MEDIUM, "--steps", programs.args.steps, "--method", "none", "--workers", workers,
                                  "--threads", threads) for workers, threads in ((1, 1), (1, 2), (2, 2))]
        return [*(line["tokens_per_second"] for line in lines), *(line["product_gflops"] for line in lines[:2])]

    one, threads, workers, product, products = programs.median(measure)
    print(f"\ntokens/s, medium: one thread {one:.0f}, two threads {threads:.0f}, two workers {workers:.0f}; "
          f"the machine's products on two threads: {products / product:.2f} times one's", flush=True)
    bounds.check("scaling, medium: one worker, two threads / one thread", threads / one, ">=", 1.85)
    bounds.check("scaling, medium: two workers of a thread / one", workers / one, ">=", 1.85)


def memory(programs, bounds):
    mib = 4 * ELEMENTS / 2**20
    run = lambda *method: programs.gradlab("train", *MEDIUM, "--steps", 2, "--workers", 4, "--threads", 2, "--level-code",
                                           "fixed", "--method", *method)["peak_rss_mib"]
    none, topk, dgc = run("none"), run("topk", "--memory", "residual"), run("dgc")
    theirs = min(programs.torch_train(threads, 1, *MODELS["medium"][:3])["peak_rss_mib"] for threads in (1, 2))
    print(f"\npeak MiB, medium, batch 256: none {none:.0f}, top-k {topk:.0f}, DGC {dgc:.0f} with 4 workers; PyTorch {theirs:.0f}",
          flush=True)
    bounds.check("memory, medium: 4 workers / PyTorch's process", none / theirs, "<=", 0.25)
    bounds.check("memory, top-k: vectors a worker", (topk - none) / 4 / mib, "<=", 1)
    bounds.check("memory, DGC: vectors a worker", (dgc - none) / 4 / mib, "<=", 2)


def compression(programs, bounds, gradient=None):
    source = ["--gradient", gradient] if gradient else ["--elements", ELEMENTS]
    label = os.path.basename(gradient) if gradient else "generated"

    def measure():
        ours = [programs.gradlab("compress", "--method", method, "--levels" if method == "qsgd" else "--ratio", parameter, *source,
                                 "--threads", 1, "--level-code", "fixed", "--indices", "gap", "--values", "f32")
                for method, parameter, *_ in COMPRESSED]
        theirs = {(line["method"], line["parameter"]): (line["ms"], line["memory_ms"])
                  for line in programs.torch(1, "compress", *source)}
        for parameter in RATIOS:  # the faster of the two ways to find the largest
            theirs["topk", parameter] = tuple(map(min, theirs["topk", parameter], theirs["sort", parameter]))
        return [value for line, (method, parameter, *_) in zip(ours, COMPRESSED)
                for value in (line["encode_ms"], line["copies"], line["decode_copies"], *theirs[method, parameter])]

    values = programs.median(measure)
    print(f"\n{label:20} encode ms   copies  decode copies  PyTorch ms    ratio  with memory    ratio")
    for i, (method, parameter, copies_bound, speed_bound) in enumerate(COMPRESSED):
        encode, copies, decode, bare, full = values[5 * i:5 * i + 5]
        print(f"{method:8} {parameter:<11} {encode:9.2f}  {copies:7.2f}  {decode:13.2f}  {bare:10.1f}  {bare / encode:7.1f}"
              f"  {full:11.1f}  {full / encode:7.1f}", flush=True)
        what = f"compression, {label}, {method} {parameter}: "
        bounds.check(what + "copies", copies, "<=", copies_bound)
        bounds.check(what + "decode copies", decode, "<=", 2)
        bounds.check(what + "speed / PyTorch's", bare / encode, ">=", speed_bound)


def overhead(programs, bounds):
    print("\ncompressing / computing, CPU time, medium")
    cells = [(workers, method) for workers in (1, 2) for method in ("topk", "randomk", "dgc", "qsgd")]
    shares = programs.median(lambda: [
        programs.gradlab("train", *MEDIUM, "--steps", programs.args.steps, "--workers", workers, "--threads", workers,
                         "--topology", "server", "--level-code", "fixed", "--method", method)["compression_share"]
        for workers, method in cells])
    for (workers, method), share in zip(cells, shares):
        print(f"{workers} workers {method:8} {share:7.4f}", flush=True)
        bounds.check(f"overhead, medium, {workers} workers, {method}: share", share, "<=", 0.03)


def choose_kernels(programs):
    """Says what is compared, and gives PyTorch the fastest kernels that it may have."""
    asked = programs.args.kernels
    found = programs.torch(1, "machine", kernels={} if asked in ("auto", "found") else {"OPENBLAS_CORETYPE": asked})[0]
    with open("/proc/cpuinfo") as info:
        lines = info.read().splitlines()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    print(f"machine: {names[0] if names else 'unknown'}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before this started "
          f"(worth nothing above 0.5)")
    print(f"PyTorch {found['torch']}, {found['version']} ({found['blas']}), kernels {found['kernels']}: "
          f"{found['product_gflops']:.1f} GFLOP/s on one thread")
    if asked not in ("auto", "found"):
        programs.kernels = {"OPENBLAS_CORETYPE": asked}
    elif asked == "auto" and any(line.startswith("flags") and " avx512dq" in line for line in lines):
        other = programs.torch(1, "machine", kernels={"OPENBLAS_CORETYPE": "SkylakeX"})[0]
        if other["product_gflops"] > 1.1 * found["product_gflops"]:
            programs.kernels = {"OPENBLAS_CORETYPE": "SkylakeX"}
            print(f"PyTorch gets the kernels {other['kernels']} instead: {other['product_gflops']:.1f} GFLOP/s (--kernels found: not)")
    limits = [programs.gradlab("train", "--steps", 1, "--workers", 1, "--threads", threads, "--vocabulary", 300)["product_gflops"]
              for threads in (1, 2)]
    print(f"lab: {limits[0]:.1f} GFLOP/s on one thread, {limits[1]:.1f} on two", flush=True)


def main():
    tasks = {"training": training, "scaling": scaling, "memory": memory, "compression": compression, "overhead": overhead}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/bin/gradlab-cli")
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=tasks, default=list(tasks))
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS), help="of training")
    parser.add_argument("--gradient", nargs="+", default=[])
    parser.add_argument("--kernels", default="auto")
    parser.add_argument("--markdown", action="store_true", help="the bounds as the README has them")
    programs, bounds = Programs(parser.parse_args()), Bounds()
    choose_kernels(programs)
    for name in programs.args.only:
        tasks[name](programs, bounds)
        if name == "compression":
            for gradient in programs.args.gradient:
                compression(programs, bounds, gradient)
    print("\n" + (bounds.markdown() if programs.args.markdown else bounds.text()))
    print(f"{len(bounds.lines)} bounds, {bounds.broken} broken")
    return bounds.broken


sys.exit(main())
