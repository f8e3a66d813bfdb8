# SPDX-License-Identifier: Apache-2.0
"""Counts the words of the sentences of the documents: check_sentences.py ROOT [PAGE…].

A sentence has at most 30 words, outside of code and tables; a command or a path between backticks, or a link's target, is one
word. Without pages, those that users read first must pass.
"""
import pathlib
import re
import sys

LIMIT = 30
PAGES = ["README.md", "tools/INSTALL.md", "tools/FAQ.md", "tools/GLOSSARY.md", "tools/MIGRATING.md", "tools/DISTRIBUTED.md",
         "tools/classify/README.md", "tools/segment/README.md", "tools/graph/README.md", "tools/sequence/README.md",
         "tools/view/README.md", "tools/analyze/README.md", "tools/configs/README.md", "tools/experiment/README.md",
         "tools/python/README.md", "tools/zoo/README.md", "tools/bench/README.md", "tools/bench/RESULTS.md", "tools/bench/TARGETS.md", "data/README.md",
         "data/graphs/README.md", "models/LINEAR_ATTENTION.md", "tools/gpu/README.md", "tests/README.md", "CONTRIBUTING.md"]


def paragraphs(text):
    """The running text of a page, a paragraph or an item of a list each, with the number of its first line."""
    text = re.sub(r"^```.*?^```", lambda match: "\n" * match.group(0).count("\n"), text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"<!--.*?-->", lambda match: "\n" * match.group(0).count("\n"), text, flags=re.DOTALL)
    found, lines, first = [], [], 0
    for number, line in enumerate([*text.split("\n"), ""], 1):
        bare = line.strip()
        breaks = not bare or bare.startswith(("#", "|", "!["))
        code = line.startswith("    ") and not lines
        if (breaks or code or re.match(r"^\s*([*-]|\d+\.) ", line)) and lines:
            found.append((first, " ".join(lines)))
            lines = []
        if breaks or code:
            continue
        if not lines:
            first = number
        lines.append(re.sub(r"^([*-]|\d+\.) ", "", bare))
    return found


def sentences(paragraph):
    paragraph = re.sub(r"`[^`]*`", "CODE", paragraph)
    paragraph = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", paragraph)
    return re.split(r"(?<=[.!?:])[)\"]? +(?=[A-Z0-9(\"*\[]|$)", paragraph)


def main(arguments):
    root, errors = pathlib.Path(arguments[0]), []
    pages = arguments[1:] or PAGES
    for page in pages:
        for line, paragraph in paragraphs((root / page).read_text()):
            for sentence in sentences(paragraph):
                count = len(re.findall(r"[^\s]*\w[^\s]*", sentence))
                if count > LIMIT:
                    errors.append(f"{page}:{line}: {count} words: {sentence}")
    print("\n".join(errors) or f"the sentences of {len(pages)} pages have at most {LIMIT} words")
    sys.exit(1 if errors else 0)


main(sys.argv[1:])
