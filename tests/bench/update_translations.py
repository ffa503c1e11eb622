#!/usr/bin/env python3
# SPDX-FileCopyrightText: Gradient Lab contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Brings a translation file up to date with the sources and with the experiment's fields.

    tests/bench/update_translations.py FILE.ts [--build build/release]

Needs lupdate (Debian: qt6-l10n-tools) and the target write_field_texts. Prints how many texts FILE.ts holds.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    arguments = parser.parse_args()
    lupdate = shutil.which("lupdate", path="/usr/lib/qt6/bin:/usr/bin")
    if lupdate is None:
        print("update_translations: no lupdate; install qt6-l10n-tools", file=sys.stderr)
        return 2
    fields = subprocess.run([arguments.build / "tests/write_field_texts"], capture_output=True, text=True, check=True)
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "field_texts.cpp"
        listed.write_text(fields.stdout)
        subprocess.run([lupdate, "-locations", "none", "-extensions", "cpp,h", "-I", ROOT, ROOT / "app", ROOT / "widgets", listed,
                        "-ts", arguments.file], check=True)
    print(len(re.findall("<message", arguments.file.read_text())), "texts in", arguments.file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
