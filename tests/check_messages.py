# SPDX-License-Identifier: Apache-2.0
"""Checks that the messages in tools/FAQ.md are those of the programs: check_messages.py ROOT.

A heading holds a message between backticks; `…` stands for what differs. What lies between, and between the words that the
programs put together ("expected X, found Y"), must be a text of the sources.
"""
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(sys.argv[1]).resolve()
files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "data", "geometry", "graph", "models", "tools"], cwd=root, check=True,
                       capture_output=True, text=True).stdout.split("\n")
sources = "\n".join((root / name).read_text(errors="replace") for name in files
                    if pathlib.Path(name).suffix in (".cpp", ".h", ".py", ".sh") and (root / name).is_file())
# Adjacent literals are one text; what is inserted between two is `…` in a heading.
texts = re.sub(r'"\s*\n\s*"', "", sources).replace('\\"', '"')
missing = []
headings = re.findall(r"^### (`+)(.+)\1$", (root / "tools/FAQ.md").read_text(), re.MULTILINE)
for _, message in headings:
    for part in re.split(r"…|: |; |, found |expected |found | needs ", message):
        part = part.strip(" :;,.'\"`")
        if len(part) > 3 and part not in texts:
            missing.append(f"tools/FAQ.md: no program says '{part}' ({message})")
print("\n".join(missing) or f"{len(headings)} messages are those of the programs")
sys.exit(1 if missing or not headings else 0)
