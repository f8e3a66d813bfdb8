#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the reference of the configuration keys, tools/configs/README.md, from what the trainers say.

usage: reference.py BIN            prints the page; BIN is the folder of the programs, such as build/release/bin
       reference.py BIN --write    writes it to README.md beside this file
       reference.py BIN --check    fails, with the difference, if README.md says something else
"""
import difflib
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE / "README.md"
# Trainers with the same sections share a chapter.
CHAPTERS = [
    ("Point clouds", "`geosft-classify` and `geosft-segment`", ["classify", "segment"]),
    ("Graphs and sequences", "`geosft-graph` and `geosft-sequence`", ["graph", "sequence"]),
]
SECTIONS = {
    "": "at the top of a file, before the first section",
    "clouds": "what is read, and what a model sees of it",
    "augment": "random changes of training clouds",
    "splits": "training, validation and test sets",
    "molecules": "tables of molecules, and features of whole graphs",
    "pictures": "folders of pictures, and what a model sees of them",
    "model": "layers and heads",
    "train": "optimisation",
    "evaluation": "validation, and the subcommand `eval`",
}
INTRODUCTION = """\
<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Written by tools/configs/reference.py from what `train --list-keys --json` of the programs says. -->
# Configurations

A configuration is a TOML file. `train --config FILE` reads it, and each key is an option, too. An option of the command line
overrides the file; a key that neither has keeps its default.

    geosft-classify train --config tools/configs/furniture.toml --epochs 50 --no-normals --out RUN

A switch such as `normals` has two options, `--normals` and `--no-normals`. Lists are written with commas, as in `--pool 1,2`.
An unknown key or a value that is not allowed is an error. It names the file, the line and what was expected. `config.toml` in a
RUN folder holds every key with the value of that run. `auto` stands for a value that the program derives from the data and prints.

The defaults in the tables are those without a file, which fit the data (`--preset small`). Keys that a file leaves out have the
values of the paper instead, unless `--preset small` is given. `train --config FILE --list-keys` shows the values that a training has.
`geosft-sequence` has the same defaults with a file and without.

Former names of keys work for one release, with a notice.
"""


def keys_of(programs, tool):
    output = subprocess.run([str(programs / f"geosft-{tool}"), "train", "--list-keys", "--json"], check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in output.splitlines()]


def cell(text):
    return text.replace("|", "\\|")


def merged(tools, keys):
    """One entry per key, with its values by trainer; keys of one trainer alone name it."""
    entries = {}
    for tool in tools:
        for key in keys[tool]:
            entries.setdefault((key["section"], key["key"]), {})[tool] = key
    return entries


def by_trainer(tools, entry, field):
    """The field of an entry, once if all trainers agree."""
    values = {tool: entry[tool][field] for tool in tools if tool in entry}
    if len(set(values.values())) == 1:
        return None, next(iter(values.values()))
    return values, None


def row(tools, entry):
    any_tool = next(iter(entry.values()))
    quoted = lambda text: f"`{cell(text)}`"

    def field(name, show):
        values, same = by_trainer(tools, entry, name)
        return show(same) if values is None else "; ".join(f"{tool}: {show(value)}" for tool, value in values.items())

    def expected(text):
        if text == "true or false":
            return text
        if any_tool["type"] == "table":
            return cell(text)
        short = re.sub(r"^(an? \w+|one of) ?(of )?", "", text)
        return cell("any" + short if short.startswith(",") else short)

    option = f"`{any_tool['option']}`"
    if any_tool["former"]:
        option += f" (formerly `{any_tool['former']}`)"
    only = "" if len(entry) == len(tools) else f"`geosft-{next(iter(entry))}` alone: "
    cells = [quoted(any_tool["key"]), option, any_tool["type"], field("default", quoted), field("expected", expected) or "any",
             only + field("help", cell)]
    return "| " + " | ".join(cells) + " |"


def chapter(title, programs, tools, keys):
    entries = merged(tools, keys)
    lines = [f"## {title}", "", f"Keys of {programs}. " + (
        "Where the two differ, the table says so." if any(keys[tools[0]] != keys[tool] for tool in tools)
        else "Both have the same keys; some are for graphs alone, others for sequences."), ""]
    sections = list(dict.fromkeys(section for section, _ in entries))
    for section in sections:
        name = f"[{section}]" if section else "top of the file"
        lines += [f"### {title}: {name}", "", f"{SECTIONS.get(section, section).capitalize()}.", "",
                  "| key | option | type | default | allowed | meaning |", "|---|---|---|---|---|---|"]
        lines += [row(tools, entry) for (where, _), entry in entries.items() if where == section]
        lines.append("")
    return "\n".join(lines)


def first_sentence(path):
    comment = []
    for line in path.read_text().splitlines():
        if not line.startswith("#"):
            break
        comment.append(line.lstrip("# "))
    text = " ".join(comment).split("  ")[0]
    return re.split(r"(?<=[a-z0-9)])\. ", text)[0].rstrip(".:") if comment else ""


def files():
    lines = ["## Files", "", "Each file begins with a comment that says more than this table.", "", "| file | what it is for |", "|---|---|"]
    for path in sorted(HERE.rglob("*.toml")):
        name = path.relative_to(HERE).as_posix()
        lines.append(f"| [{name}]({name}) | {cell(first_sentence(path))} |")
    return "\n".join(lines) + "\n"


def page(programs):
    keys = {tool: keys_of(programs, tool) for _, _, tools in CHAPTERS for tool in tools}
    chapters = [chapter(title, names, tools, keys) for title, names, tools in CHAPTERS]
    return "\n".join([INTRODUCTION, *chapters, files()])


def main(arguments):
    if not arguments or arguments[1:] not in ([], ["--write"], ["--check"]):
        sys.exit(__doc__)
    text = page(pathlib.Path(arguments[0]))
    if arguments[1:] == ["--write"]:
        PAGE.write_text(text)
    elif arguments[1:] == ["--check"]:
        difference = list(difflib.unified_diff(PAGE.read_text().splitlines(), text.splitlines(), "tools/configs/README.md",
                                               "what the programs say", lineterm="", n=0))
        if difference:
            sys.exit("\n".join(difference) + f"\nwrite the page anew: tools/configs/reference.py {arguments[0]} --write")
    else:
        print(text, end="")


main(sys.argv[1:])
