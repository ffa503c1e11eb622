#!/usr/bin/python3
# SPDX-FileCopyrightText: Gradient Lab contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What PyTorch takes for the lab's work; compare_with_torch.py runs it beside the lab's own, torch_reference.py uses its model.

usage: torch_peer.py machine
       torch_peer.py train [--hidden 300] [--vocabulary 10000] [--batch 256] [--bptt 35] [--processes 1] [--steps 3]
       torch_peer.py compress [--elements 4444800 | --gradient FILE.safetensors] [--rounds 5]

Needs PyTorch (Debian: python3-torch) that multiplies with OpenBLAS (Debian: libopenblas0-pthread). Threads: set
OMP_NUM_THREADS (PyTorch's own loops) and OPENBLAS_NUM_THREADS (products). Prints JSON lines.

machine: the library, its kernels and GFLOP/s of 1024 products. train: the lab's model, two LSTM layers with the output tied to
the embedding, clip 0.25, plain SGD, f32, on random tokens; with more processes each has its share of the batch, and gradients are
added by Gloo. compress: medians in milliseconds of what published compressors do with one gradient, tensor by
tensor: full sort, torch.topk, a threshold from a sample of 1 % (DGC), a random permutation, stochastic rounding to int8 (QSGD);
ms is that alone, memory_ms with what keeps unsent elements: a residual, for DGC velocity and sum. Nothing makes bytes of a result.
"""
import argparse, ctypes, json, math, os, re, statistics, struct, sys, tempfile, time


def stop(message):
    """255 is no number of broken bounds."""
    print(message, file=sys.stderr)
    sys.exit(255)


try:
    import torch
    import torch.distributed as distributed
except ImportError:
    stop(f"{sys.executable} has no PyTorch; on Debian: apt-get install python3-torch libopenblas0-pthread, and use /usr/bin/python3")


def openblas():
    """The library that products come from, and its kernels; ends the program if it is another one."""
    torch.ones(64, 64) @ torch.ones(64, 64)
    with open("/proc/self/maps") as maps:
        found = re.search(r"/\S*/openblas-(?:pthread|openmp)/libblas\S*", maps.read())
    if not found:
        stop("PyTorch multiplies without OpenBLAS here, many times slower than it could; "
             "on Debian: apt-get install libopenblas0-pthread")
    library = ctypes.CDLL(found.group())
    library.openblas_get_config.restype = library.openblas_get_corename.restype = ctypes.c_char_p
    return {"blas": found.group(), "version": " ".join(library.openblas_get_config().decode().split()[:2]),
            "kernels": library.openblas_get_corename().decode()}


def read_safetensors(path):
    """Tensors by name."""
    types = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
    tensors = {}
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = bytearray(file.read())
    for name, entry in header.items():
        if name != "__metadata__" and math.prod(entry["shape"]) > 0:
            begin, end = entry["data_offsets"]
            tensors[name] = torch.frombuffer(data[begin:end], dtype=types[entry["dtype"]]).reshape(entry["shape"])
    return tensors


class LanguageModel(torch.nn.Module):
    """Embedding, LSTM layers, output layer; names and shapes of the parameters are the lab's."""

    def __init__(self, vocabulary, hidden, layers=2, tied=True):
        super().__init__()
        self.embedding = torch.nn.Embedding(vocabulary, hidden)
        self.lstm = torch.nn.LSTM(hidden, hidden, layers)
        self.decoder = None if tied else torch.nn.Linear(hidden, vocabulary)
        for parameter in self.parameters():
            torch.nn.init.uniform_(parameter, -1 / math.sqrt(hidden), 1 / math.sqrt(hidden))

    def start(self, columns):
        zeros = self.embedding.weight.new_zeros(self.lstm.num_layers, columns, self.lstm.hidden_size)
        return zeros, zeros.clone()

    def logits(self, tokens, state):
        """tokens (time, column) → logits (time · column, vocabulary), state after the last row"""
        output, state = self.lstm(self.embedding(tokens), state)
        output = output.flatten(0, 1)
        return output @ self.embedding.weight.t() if self.decoder is None else self.decoder(output), state


def mean_over_processes(parameters):
    flat = torch.cat([parameter.grad.flatten() for parameter in parameters])
    distributed.all_reduce(flat)
    flat /= distributed.get_world_size()
    begin = 0
    for parameter in parameters:
        parameter.grad = flat[begin:begin + parameter.numel()].view_as(parameter)
        begin += parameter.numel()


def train(rank, args, rendezvous):
    if args.processes > 1:
        distributed.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=args.processes)
    windows = min(args.steps + 1, 8)
    torch.manual_seed(rank)
    columns = args.batch // args.processes
    tokens = torch.randint(args.vocabulary, (args.bptt * windows + 1, columns))
    model = LanguageModel(args.vocabulary, args.hidden)
    parameters = list(model.parameters())
    optimizer = torch.optim.SGD(parameters, lr=1.0)
    state, times = model.start(columns), []
    for step in range(args.steps + 2):  # two to warm up
        begin = time.perf_counter()
        row = step % windows * args.bptt
        logits, state = model.logits(tokens[row:row + args.bptt], tuple(part.detach() for part in state))
        loss = torch.nn.functional.cross_entropy(logits, tokens[row + 1:row + args.bptt + 1].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        if args.processes > 1:
            mean_over_processes(parameters)
        torch.nn.utils.clip_grad_norm_(parameters, 0.25)
        optimizer.step()
        times.append(time.perf_counter() - begin)
    with open("/proc/self/status") as status:
        peak = int(re.search(r"VmHWM:\s*(\d+)", status.read()).group(1)) / 1024
    if rank == 0:
        seconds = statistics.median(times[2:])
        print(json.dumps({"parameters": sum(p.numel() for p in parameters), "seconds_per_step": seconds,
                          "tokens_per_second": args.batch * args.bptt / seconds, "peak_rss_mib": peak}), flush=True)


def kept(gradient, ratio):
    return max(1, int(gradient.numel() * ratio))


def by_sort(gradient, ratio):
    chosen = torch.sort(gradient.abs(), descending=True)[1][:kept(gradient, ratio)]
    return gradient[chosen], chosen


def by_topk(gradient, ratio):
    chosen = torch.topk(gradient.abs(), kept(gradient, ratio), sorted=False)[1]
    return gradient[chosen], chosen


def by_sample(gradient, ratio):
    size, k = gradient.abs(), kept(gradient, ratio)
    sample = size[torch.randint(size.numel(), (kept(gradient, 0.01),))]
    threshold = torch.topk(sample, kept(sample, ratio), sorted=False)[0].min()
    for _ in range(10):
        chosen = torch.nonzero(size >= threshold).flatten()
        if chosen.numel() >= 0.8 * k:
            break
        threshold = threshold * 0.8
    if chosen.numel() > 1.3 * k:
        chosen = chosen[torch.topk(size[chosen], k, sorted=False)[1]]
    return gradient[chosen], chosen


def by_permutation(gradient, ratio):
    chosen = torch.randperm(gradient.numel())[:kept(gradient, ratio)]
    return gradient[chosen], chosen


def by_rounding(gradient, levels):
    largest = gradient.abs().max()
    level = gradient.abs() * (levels / largest)
    lower = level.floor()
    return ((lower + (torch.rand_like(level) < level - lower)) * gradient.sign()).to(torch.int8), largest


COMPRESSORS = {"sort": by_sort, "topk": by_topk, "dgc": by_sample, "randomk": by_permutation}


class Memory:
    """What was not sent of one tensor."""

    def __init__(self, tensor, method):
        self.waiting = torch.zeros_like(tensor)
        self.velocity = torch.zeros_like(tensor) if method == "dgc" else None

    def compress(self, gradient, method, ratio):
        if self.velocity is not None:
            gradient = self.velocity.mul_(0.5).add_(gradient)
        self.waiting.add_(gradient)
        chosen = COMPRESSORS[method](self.waiting, ratio)[1]
        for part in (self.waiting, self.velocity):
            if part is not None:
                part[chosen] = 0


def milliseconds(work, tensors, rounds):
    times = []
    for _ in range(rounds + 1):  # one to warm up
        begin = time.perf_counter()
        for position, tensor in enumerate(tensors):
            work(position, tensor)
        times.append(time.perf_counter() - begin)
    return 1e3 * statistics.median(times[1:])


def compress(args):
    torch.manual_seed(0)
    if args.gradient:
        tensors = [tensor.float().flatten() for tensor in read_safetensors(args.gradient).values()]
    else:
        tensors = [torch.randn(args.elements) * torch.randn(args.elements) ** 2]
    for method in COMPRESSORS:
        for ratio in (0.01, 0.001, 0.0001):
            memories = [Memory(tensor, method) for tensor in tensors]
            alone = milliseconds(lambda _, tensor: COMPRESSORS[method](tensor, ratio), tensors, args.rounds)
            kept_too = milliseconds(lambda i, tensor: memories[i].compress(tensor, method, ratio), tensors, args.rounds)
            print(json.dumps({"method": method, "parameter": ratio, "ms": alone, "memory_ms": kept_too}), flush=True)
    rounded = milliseconds(lambda _, tensor: by_rounding(tensor, 64), tensors, args.rounds)
    print(json.dumps({"method": "qsgd", "parameter": 64, "ms": rounded, "memory_ms": rounded}), flush=True)


def machine():
    a, b, times = torch.randn(1024, 1024), torch.randn(1024, 1024), []
    for _ in range(12):
        begin = time.perf_counter()
        a @ b
        times.append(time.perf_counter() - begin)
    print(json.dumps({"torch": torch.__version__, **openblas(),
                      "product_gflops": 2 * 1024**3 / statistics.median(times[2:]) / 1e9}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=("machine", "train", "compress"))
    for name, default in (("hidden", 300), ("vocabulary", 10000), ("batch", 256), ("bptt", 35), ("processes", 1), ("steps", 3),
                          ("elements", 4444800), ("rounds", 5)):
        parser.add_argument("--" + name, type=int, default=default)
    parser.add_argument("--gradient")
    args = parser.parse_args()
    openblas()
    if args.task == "machine":
        machine()
    elif args.task == "compress":
        compress(args)
    elif args.processes == 1:
        train(0, args, None)
    else:
        with tempfile.TemporaryDirectory() as folder:
            torch.multiprocessing.spawn(train, (args, os.path.join(folder, "rendezvous")), args.processes)


if __name__ == "__main__":
    main()
