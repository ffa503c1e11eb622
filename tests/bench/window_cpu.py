#!/usr/bin/env python3
# SPDX-FileCopyrightText: Gradient Lab contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of a core does the window take while it charts one run live?

usage: window_cpu.py [--program build/release/bin/gradlab] [--seconds 20] [--size 1280x800]

Trains the built-in language's default model with top-k 1 % in a real window on a virtual display (xvfb-run), at full
speed, and reads from /proc what CPU time each thread has used: the window's is that of the threads of Qt, the main one
among them, beside that of the engine's. The display server's own is told too. Ends with 1 if the window takes more than
a quarter of a core.
"""
import argparse, os, signal, subprocess, sys, tempfile, time

MOST = 0.25
EXPERIMENT = """{"schema": 1, "compression": {"method": "topk", "ratio": 0.01},
                 "training": {"steps": 100000000, "epochs": 1000000, "patience": 1000000}}"""


def cpu_seconds(folder):
    with open(os.path.join(folder, "stat")) as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def name_of(folder):
    with open(os.path.join(folder, "comm")) as file:
        return file.read().strip()


def threads(pid):
    """CPU seconds by thread: (its number, its name)."""
    times = {}
    for number in os.listdir(f"/proc/{pid}/task"):
        folder = f"/proc/{pid}/task/{number}"
        try:
            times[int(number), name_of(folder)] = cpu_seconds(folder)
        except FileNotFoundError:
            pass  # it ended
    return times


def child(pid, name):
    """The process of that name below `pid`."""
    while True:
        for number in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{number}/stat") as file:
                    text = file.read()
            except FileNotFoundError:
                continue
            if text[text.index("(") + 1:text.rindex(")")] == name and int(text.rsplit(")", 1)[1].split()[1]) == pid:
                return int(number)
        time.sleep(0.05)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/bin/gradlab")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--size", default="1280x800")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "experiment.json")
        with open(file, "w") as out:
            out.write(EXPERIMENT)
        display = subprocess.Popen(["xvfb-run", "-a", "-s", "-screen 0 1920x1080x24", args.program, file, "--start", "--size", args.size],
                                   env={**os.environ, "XDG_CONFIG_HOME": folder, "QT_QPA_PLATFORM": "xcb"}, start_new_session=True)
        try:
            pid, server = child(display.pid, "gradlab"), child(display.pid, "Xvfb")
            time.sleep(5)  # text, model, first charts
            begin, before, served = time.perf_counter(), threads(pid), cpu_seconds(f"/proc/{server}")
            time.sleep(args.seconds)
            after, wall = threads(pid), time.perf_counter() - begin
            served = cpu_seconds(f"/proc/{server}") - served
            os.kill(pid, signal.SIGTERM)  # ends the run, then the window
            display.wait(timeout=30)
        finally:
            if display.poll() is None:
                os.killpg(display.pid, signal.SIGKILL)
    used = {thread: (seconds - before.get(thread, 0.0)) / wall for thread, seconds in after.items()}
    window = {thread: share for thread, share in used.items() if thread[0] == pid or thread[1].startswith("Q")}
    share, engine = sum(window.values()), sum(used.values()) - sum(window.values())
    for (number, name), one in sorted(used.items()):
        print(f"{name:16} {100 * one:6.1f} % of a core{'  window' if (number, name) in window else ''}")
    print(f"window {100 * share:.1f} %, engine {100 * engine:.1f} %, display server {100 * served / wall:.1f} %: "
          f"{'ok' if share <= MOST and engine > 0.2 else 'BROKEN'}")
    return 0 if share <= MOST and engine > 0.2 else 1


sys.exit(main())
