#!/usr/bin/python3
# SPDX-FileCopyrightText: Gradient Lab contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The same training run in PyTorch: a run folder beside the lab's, and how far the two part.

usage: torch_reference.py RUN_FOLDER --out DIR [--steps 100]
       torch_reference.py EXPERIMENT.json --out DIR [--steps 100] [options of gradlab-cli train]
       both: [--program build/release/bin/gradlab-cli] [--corpus-writer build/release/tests/write_corpus]

Needs PyTorch (Debian: python3-torch) and, for the generated language, the program write_corpus from the lab's tests.
Of a run's folder it takes experiment and losses; an experiment is first trained by the lab into DIR-gradlab. Method
none, no dropout. PyTorch begins with the lab's own first parameters (one step at learning rate 0, saved with --save; so
--init holds for both), reads the text by itself, and trains with torch.nn.LSTM, clip_grad_norm_ and torch.optim.SGD; the
workers' gradients are computed one after the other and averaged. DIR then holds experiment.json, metrics.jsonl and summary.json;
`gradlab RUN_FOLDER DIR` shows both. It has no network: bytes are those of the bare numbers, simulated time that of computing.

Prints the largest relative difference of the steps' losses, and how far PyTorch parts from itself if its first parameters are
moved by a last bit: at a high learning rate rounding decides what comes of a hundred steps. In f64 the lab's losses must be
within 1e-4 up to the step before PyTorch's own part by 1e-6; the rest, and all of f32, is only shown. Ends with the number of
bounds that do not hold, or 255 if it cannot compare.
"""
import argparse, collections, copy, json, math, os, subprocess, sys, tempfile, time

sys.dont_write_bytecode = True  # nothing beside the sources
from torch_peer import LanguageModel, read_safetensors, stop, torch

BOUND, DECIDED_BY_ROUNDING = 1e-4, 1e-6
EOS, UNK = b"<eos>", b"<unk>"
LAYOUTS = ("{}.txt", "ptb.{}.txt", "wiki.{}.tokens", "wiki.{}.raw")


# Text: lines → tokens → ids

def lines_of(path):
    with open(path, "rb") as file:
        text = file.read().removeprefix(b"\xef\xbb\xbf")
    lines = (line[:-1] if line.endswith(b"\r") else line for line in text.split(b"\n"))
    return [line for line in lines if line.strip()]


def splits_of(source, valid, test):
    if os.path.isdir(source):
        def find(split):
            return next(path for name in LAYOUTS if os.path.exists(path := os.path.join(source, name.format(split))))
        return lines_of(find("train")), lines_of(valid or find("valid")), lines_of(test or find("test"))
    train = lines_of(source)
    each = max(1, len(train) // 20)
    parts = {}
    for split, path in (("test", test), ("valid", valid)):
        parts[split] = lines_of(path) if path else train[-each:]
        if not path:
            del train[-each:]
    return train, parts["valid"], parts["test"]


def tokens_of(lines, unit):
    for line in lines:
        yield from line.split() if unit == "word" else (point.encode() for point in line.decode())
        yield EOS


def ids_of(splits, unit, cap):
    """Ids of each split, and how many there are: the most frequent types, numbered by first appearance."""
    train, *others = ([*tokens_of(lines, unit)] for lines in splits)
    counts = collections.Counter(train)  # in order of first appearance
    added = UNK not in counts and (0 < cap < len(counts) or any(token not in counts for split in others for token in split))
    order = sorted(counts, key=lambda token: (token not in (EOS, UNK), -counts[token]))
    kept = set(order[:cap - added] if cap else order)
    ids = {token: number for number, token in enumerate(token for token in counts if token in kept)}
    if added:
        ids[UNK] = len(ids)
    return [torch.tensor([ids.get(token, ids.get(UNK)) for token in split]) for split in (train, *others)], len(ids)


def read_corpus(settings, writer):
    source = settings["source"]
    with tempfile.TemporaryDirectory() as folder:
        if source == "builtin:markov":
            run(writer, folder)
            source = folder
        elif source == "builtin:kjv":  # gradlab-cli has put it there
            cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.environ["HOME"], ".cache")
            source = os.path.join(cache, "gradlab", "kjv.txt")
        return ids_of(splits_of(source, settings["valid"], settings["test"]), settings["unit"], settings["vocabulary"])


# The lab's side

def run(*command):
    if subprocess.run(command).returncode != 0:
        stop(f"failed: {' '.join(command)}")



def records_of(path):
    with open(path) as lines:
        return [json.loads(line) for line in lines]


def lab_run(args, options):
    """Folder of the lab's run; an experiment's is made now."""
    if os.path.isdir(args.run):
        if options:
            stop(f"a run that is there has its options: {' '.join(options)}; give its experiment.json to train another")
        return args.run
    with open(args.run) as file:
        if "race" in json.load(file):
            stop(f"a race: {args.run}; give one experiment, or the folder of one of its runs")
    folder = args.out.rstrip("/") + "-gradlab"
    run(args.program, "train", args.run, *options, "--steps", str(args.steps), "--out", folder, "--quiet")
    return folder


def checked(records):
    """Its start record, if PyTorch can do the same."""
    start = records[0]
    experiment = start["experiment"]
    compression = experiment["compression"]
    workers = experiment["cluster"]["workers"]
    for wrong, what in ((compression["method"] != "none", "a compression method"),
                        (compression["values"] != experiment["training"]["precision"], "values of another type"),
                        (compression["memory"] == "dgc", "DGC's memory"),
                        (experiment["model"]["dropout"] > 0, "dropout"),
                        (any(r["kind"] == "event" and r["event"] == "parameter_changed" for r in records), "changes on the way"),
                        (any(r["kind"] == "step" and r["contributors"] != workers for r in records), "steps that lacked a worker")):
        if wrong:
            stop(f"this run has {what}, which is not repeated here; give one without")
    return start


def first_parameters(program, experiment):
    with tempfile.TemporaryDirectory() as folder:
        document, saved = os.path.join(folder, "experiment.json"), os.path.join(folder, "first.safetensors")
        with open(document, "w") as file:
            json.dump(experiment, file)
        run(program, "train", document, "--transport", "threads", "--topology", "server", "--steps", "1", "--lr", "0",
            "--save", saved, "--quiet")
        return read_safetensors(saved)


def moved_by_a_bit(tensors):
    generator = torch.Generator().manual_seed(1)
    return {name: tensor * (1 + torch.finfo(tensor.dtype).eps * torch.randn(tensor.shape, generator=generator, dtype=tensor.dtype))
            for name, tensor in tensors.items()}


# Training by the lab's rule

class Reference:
    def __init__(self, start, corpus, first):
        settings = start["experiment"]
        self.training, self.workers = settings["training"], settings["cluster"]["workers"]
        self.splits, vocabulary = corpus
        if vocabulary != start["vocabulary"] or len(self.splits[0]) != start["train_tokens"]:
            stop(f"read {len(self.splits[0])} tokens of {vocabulary} types, the lab {start['train_tokens']} of {start['vocabulary']}")
        self.model = LanguageModel(vocabulary, settings["model"]["hidden"], settings["model"]["layers"], settings["model"]["tied"])
        self.model.to(torch.float64 if self.training["precision"] == "f64" else torch.float32)
        self.model.load_state_dict(first)
        self.parameters = list(self.model.parameters())
        self.optimizer = torch.optim.SGD(self.parameters, self.training["lr"], self.training["momentum"],
                                         weight_decay=self.training["weight_decay"])
        batch, self.columns = self.training["batch"], self.training["batch"] // self.workers
        self.stream = self.cut(self.splits[0], batch)
        self.windows = (len(self.stream) - 1) // self.training["bptt"]
        self.states = []

    @staticmethod
    def cut(ids, columns):
        rows = len(ids) // columns
        return ids[:rows * columns].view(columns, rows).t()

    def loss(self, block, row, time, state):
        logits, state = self.model.logits(block[row:row + time], state)
        loss = torch.nn.functional.cross_entropy(logits, block[row + 1:row + 1 + time].flatten())
        return loss, tuple(part.detach() for part in state)

    def step(self, number):
        """Mean loss before the update, norm of the mean gradient, seconds of each phase."""
        window = (number - 1) % self.windows
        if window == 0:
            self.states = [self.model.start(self.columns) for _ in range(self.workers)]
        self.optimizer.zero_grad(set_to_none=True)
        losses, seconds = [], collections.Counter()
        for rank in range(self.workers):  # gradients add up in rank order
            begin = time.perf_counter()
            block = self.stream[:, rank * self.columns:(rank + 1) * self.columns]
            loss, self.states[rank] = self.loss(block, window * self.training["bptt"], self.training["bptt"], self.states[rank])
            middle = time.perf_counter()
            loss.backward()
            losses.append(loss.item())
            seconds["forward"] += (middle - begin) / self.workers
            seconds["backward"] += (time.perf_counter() - middle) / self.workers
        begin = time.perf_counter()
        for parameter in self.parameters:
            parameter.grad /= self.workers
        norm = torch.nn.utils.clip_grad_norm_(self.parameters, self.training["clip"] or math.inf).item()
        self.optimizer.step()
        seconds["update"] = time.perf_counter() - begin
        return math.fsum(losses) / self.workers, norm, seconds

    @torch.no_grad()
    def evaluate(self, ids):
        """Negative log-likelihood and number of tokens."""
        block = self.cut(ids, self.training["eval_batch"])
        state, nll, tokens = self.model.start(self.training["eval_batch"]), 0.0, 0
        for row in range(0, len(block) - 1, self.training["bptt"]):
            rows = min(self.training["bptt"], len(block) - 1 - row)
            loss, state = self.loss(block, row, rows, state)
            nll += loss.item() * rows * block.shape[1]
            tokens += rows * block.shape[1]
        return nll, tokens


class Log:
    """metrics.jsonl, and what summary.json repeats of it."""

    def __init__(self, folder, start, reference):
        os.makedirs(folder)
        self.folder, self.reference, self.wall, self.simulated = folder, reference, 0.0, 0.0
        self.size, self.best, self.kept = start["parameters"], math.inf, None
        self.value_bytes = 8 if reference.training["precision"] == "f64" else 4
        with open(os.path.join(folder, "experiment.json"), "w") as file:
            json.dump(start["experiment"], file, indent=2)
        self.file = open(os.path.join(folder, "metrics.jsonl"), "w")
        self.write({**start, "version": f"PyTorch {torch.__version__}"})

    def write(self, record):
        self.file.write(json.dumps(record) + "\n")

    def step(self, number, loss, norm, seconds):
        training, size, bytes_dense = self.reference.training, self.size, self.size * self.value_bytes
        self.wall += self.reference.workers * (seconds["forward"] + seconds["backward"]) + seconds["update"]
        self.simulated += sum(seconds.values())
        times = dict.fromkeys(("forward", "backward", "compress", "encode", "transfer", "wait", "turn", "decode", "update",
                               "transfer_hidden"), 0.0) | seconds
        self.write({"kind": "step", "step": number, "epoch": (number - 1) // self.reference.windows,
                    "tokens": number * training["batch"] * training["bptt"], "wall_s": self.wall, "simulated_s": self.simulated,
                    "loss": loss, "lr": training["lr"], "ratio": 1, "selected": size, "nonzero": size, "density": 1,
                    "bytes_message": bytes_dense, "bytes_up": bytes_dense, "bytes_down": bytes_dense, "bytes_dense": bytes_dense,
                    "bytes_paper": bytes_dense, "grad_norm": norm, "residual_norm": 0, "error": 0, "energy_kept": 1,
                    "clipped": 0 < training["clip"] < norm, "aggregate_cpu": 0, "link_s": 0,
                    "contributors": self.reference.workers, "t": times, "cpu": times})

    def evaluation(self, step, split):
        begin = time.perf_counter()
        nll, tokens = self.reference.evaluate(self.reference.splits[1 if split == "valid" else 2])
        self.wall += time.perf_counter() - begin
        perplexity = math.exp(nll / tokens)
        self.write({"kind": "eval", "step": step, "epoch": (step - 1) // self.reference.windows, "split": split, "nll": nll,
                    "tokens": tokens, "perplexity": perplexity, "wall_s": self.wall, "simulated_s": self.simulated})
        if split == "valid" and perplexity < self.best:
            self.best, self.kept = perplexity, copy.deepcopy(self.reference.model.state_dict())
        return perplexity

    def end(self, steps, start):
        test = self.evaluation(steps, "test")
        self.reference.model.load_state_dict(self.kept)
        nll, tokens = self.reference.evaluate(self.reference.splits[2])
        training, moved = self.reference.training, steps * self.size * self.value_bytes
        end = {"reason": "completed", "steps": steps, "best_valid_perplexity": self.best, "test_perplexity": test,
               "test_perplexity_at_best": math.exp(nll / tokens),
               "totals": {"wall_s": self.wall, "simulated_s": self.simulated, "tokens": steps * training["batch"] * training["bptt"],
                          **dict.fromkeys(("bytes_up", "bytes_down", "bytes_message", "bytes_dense", "bytes_paper"), moved)}}
        self.write({"kind": "end", **end})
        self.file.close()
        kept = ("parameters", "vocabulary", "corpus_hash", "host", "cpu", "experiment")
        with open(os.path.join(self.folder, "summary.json"), "w") as file:
            json.dump({"schema": 1, "version": f"PyTorch {torch.__version__}", **end, **{key: start[key] for key in kept}}, file,
                      indent=2)


def report(precision, apart, own):
    """Largest differences; the number of broken bounds."""
    for name, values in (("the lab and PyTorch", apart), ("PyTorch and PyTorch begun a last bit away", own)):
        print(f"{name}: losses of {len(values)} steps in {precision} differ by at most {max(values):.2g} of their size, "
              f"at step {1 + values.index(max(values))}")
    if precision != "f64":
        return 0
    judged = next((step for step, value in enumerate(own) if value > DECIDED_BY_ROUNDING), len(own))
    worst = max(apart[:judged], default=math.inf)
    print(f"steps 1 to {judged}: {worst:.2g}  bound {BOUND:g}  {'ok' if worst <= BOUND else 'BROKEN'}")
    return int(worst > BOUND)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    parser.add_argument("run", metavar="RUN_FOLDER|EXPERIMENT.json")
    parser.add_argument("--out", required=True)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--program", default="build/release/bin/gradlab-cli")
    parser.add_argument("--corpus-writer", default="build/release/tests/write_corpus")
    args, options = parser.parse_known_args()
    if os.path.exists(args.out):
        stop(f"it is there already: --out {args.out}; give a new folder")
    folder = lab_run(args, options)
    if not os.path.exists(os.path.join(folder, "metrics.jsonl")):
        stop(f"no run of one experiment: {folder} has no metrics.jsonl")
    records = records_of(os.path.join(folder, "metrics.jsonl"))
    start = checked(records)
    losses = [record["loss"] for record in records if record["kind"] == "step"][:args.steps]
    start["experiment"]["training"]["steps"] = len(losses)
    first = first_parameters(args.program, start["experiment"])
    corpus = read_corpus(start["experiment"]["corpus"], args.corpus_writer)
    reference, neighbour = Reference(start, corpus, first), Reference(start, corpus, moved_by_a_bit(first))
    log = Log(args.out, start, reference)
    every = reference.training["eval_every"] or reference.windows
    apart, own = [], []
    for number, expected in enumerate(losses, 1):
        loss, norm, seconds = reference.step(number)
        log.step(number, loss, norm, seconds)
        apart.append(abs(loss - expected) / abs(loss))
        own.append(abs(loss - neighbour.step(number)[0]) / abs(loss))
        if number % every == 0 or number == len(losses):
            log.evaluation(number, "valid")
    log.end(len(losses), start)
    broken = report(reference.training["precision"], apart, own)
    print(f"gradlab {folder} {args.out}")
    return broken


sys.exit(main())
