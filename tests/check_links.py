# SPDX-License-Identifier: Apache-2.0
"""Checks the relative links of the documents: check_links.py ROOT. Files and anchors must exist."""
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(sys.argv[1]).resolve()
pages = [root / name for name in subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=root, check=True,
                                                capture_output=True, text=True).stdout.split("\n") if name]


def anchors(page):
    """The anchors that headings get: lower case, without punctuation, blanks as hyphens."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


broken = []
for page in pages:
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"`[^`\n]*`", "", text)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        if not found.exists():
            broken.append(f"{page.relative_to(root)}: there is no {target}")
        elif anchor and found.suffix == ".md" and anchor not in anchors(found):
            broken.append(f"{page.relative_to(root)}: no heading for {target}")
print("\n".join(broken) or f"the links of {len(pages)} documents lead somewhere")
sys.exit(1 if broken else 0)
