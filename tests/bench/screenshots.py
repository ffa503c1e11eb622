#!/usr/bin/env python3
# SPDX-FileCopyrightText: Gradient Lab contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of every view of the window, in light and dark, at 1024x768, 1920x1080 and 3840x2160 at scale 2, of real runs.

    tests/bench/screenshots.py FOLDER [--only NAME …] [--build build/release]

Needs no display. Runs the first-look race (with inspections) and one with worker processes first, kept in FOLDER/runs,
then opens them once a picture. Prints one line a picture; ends with 1 if one could not be made.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SIZES = {"1024": ("1024x768", 1), "1920": ("1920x1080", 1), "3840": ("1920x1080", 2)}
VIEWS = {
    "race": [],
    "zoomed": ["--zoom", "60:140"],
    "presentation": ["--present"],
    "table": ["--x-axis", "bytes"],
    "tensors": ["--gradient", "tensors"],
    "overlap": ["--gradient", "overlap"],
    "levels": ["--gradient", "levels"],
    "map": ["--gradient", "map"],
    "teach": ["--layout", "teach"],
    "tune": ["--layout", "tune"],
    "network": ["--layout", "network"],
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", default=[], help="views to take: " + ", ".join([*VIEWS, "form", "tuning", "workers"]))
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    arguments = parser.parse_args()
    program = arguments.build.resolve() / "bin/gradlab"
    arguments.folder.mkdir(parents=True, exist_ok=True)
    runs = make_runs(program, arguments.folder / "runs")
    failed = 0
    for view in [*VIEWS, "form", "tuning", "workers"]:
        if arguments.only and view not in arguments.only:
            continue
        for theme in ("light", "dark"):
            for size in SIZES:
                failed += not take(program, runs, view, theme, size, arguments.folder)
    return 1 if failed else 0


def make_runs(program: Path, folder: Path) -> Path:
    """The first-look race beside QSGD, so that every view has something to show."""
    if folder.exists():
        return folder
    race = json.loads((ROOT / "resources/experiments/first-look.json").read_text())
    first = race["race"][0]
    first.setdefault("training", {}).update({"steps": 300, "inspect_every": 50})
    race["race"].append({"name": "QSGD 16 levels", "compression": {"method": "qsgd", "levels": 16}})
    file = folder.parent / "race.json"
    file.write_text(json.dumps(race))
    run(program, [str(file), "--start", "--quit", "--out", str(folder), "--change", "150:Random:compression.memory=none"], 1)
    return folder


def take(program: Path, runs: Path, view: str, theme: str, size: str, folder: Path) -> bool:
    pixels, scale = SIZES[size]
    picture = folder / f"{view}-{theme}-{size}.png"
    options = ["--theme", theme, "--size", pixels, "--screenshot", str(picture), "--quit"]
    if view == "workers":
        options += [str(ROOT / "resources/experiments/worker-processes.json"), "--start", "--steps", "60",
                    "--worker", "30:2=kill", "--layout", "network"]
    elif view == "tuning":
        options += ["--start", "--steps", "60", "--layout", "tune"]
    elif view == "form":
        options += [str(ROOT / "resources/experiments/first-look.json")]
    else:
        options += [str(runs), *VIEWS[view]]
    made = run(program, options, scale)
    print(("made   " if made else "FAILED ") + picture.name, flush=True)
    return made


def run(program: Path, options: list, scale: int) -> bool:
    environment = dict(os.environ, QT_QPA_PLATFORM="offscreen", QT_SCALE_FACTOR=str(scale))
    ended = subprocess.run([str(program), *options], env=environment, capture_output=True, text=True, timeout=300)
    if ended.returncode != 0:
        print(ended.stderr.strip(), file=sys.stderr)
    return ended.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
