#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the commands of the documents.

usage: check_commands.py ROOT BUILD [PAGE…]     all pages of ROOT, or some; BUILD is a build folder with all programs
       check_commands.py --options ROOT BUILD   looks at the options alone, and runs nothing
       check_commands.py --python PAGE…         runs the Python blocks of pages, with the Python that runs this file

Commands are the blocks indented by four blanks, and fences without a language or with bash. All of a page run in one shell, in a
scratch folder with small data (sample_data below); trainings are cut to one epoch. Whether they run or not, their options
must exist in the programs and scripts, and so must files of the checkout that they name; the same holds for commands in
running text. A comment before a block says what is not run:

    <!-- not run: REASON -->                   none of the block
    <!-- not run (WORD, WORD): REASON -->      the lines that contain one of the words
    <!-- no commands -->                       the block is something else

C++ blocks must compile. Ends with 77 (skipped) without the furniture models, which some commands read.
"""
import json
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile

PROGRAMS = ["classify", "segment", "graph", "sequence", "view", "analyze", "bench"]
# Generated, or not for users of this revision.
OTHER_PAGES = {"CHANGELOG.md", "tools/python/REFERENCE.md"}
# Options of programs that are not ours, in running text.
FOREIGN = {
    "--allow-run-as-root", "--use-hwthread-cpus", "--oversubscribe", "--max-restarts", "--nnodes", "--gpus-per-task",
    "--signal=TERM@120", "--help", "--mca", "--find-links", "--strict", "--index-url", "--no-index", "--privileged", "--repeat",
}
FURNITURE = pathlib.Path("/usr/share/sweethome3d/furniture")


class Block:
    def __init__(self, page, line, language, text, marker):
        self.page, self.line, self.language, self.text = page, line, language, text
        self.shell = language in ("", "bash", "sh") and marker != "no commands"
        self.skipped = []  # words; a line that contains one does not run
        self.runs = self.shell
        found = re.match(r"not run(?: \((.*)\))?: .", marker or "")
        if found and found.group(1):
            self.skipped = [word.strip(" `") for word in found.group(1).split(",")]
        elif found:
            self.runs = False
        elif marker and marker != "no commands":
            raise SystemExit(f"{page}:{line}: unknown marker <!-- {marker} -->")
        self.checked = not marker or found is None  # of other languages

    def lines(self):
        """Logical lines, with the number of the first physical one."""
        number, text = self.line, ""
        for offset, line in enumerate(self.text.split("\n")):
            if not text:
                number = self.line + offset
            if line.endswith("\\"):
                text += line[:-1] + " "
                continue
            text += line
            if text.strip():
                yield number, text
            text = ""


def blocks_of(page, text):
    """The code blocks of a page: fences, and paragraphs indented by four blanks that follow a blank line."""
    lines, found, i, marker = text.split("\n"), [], 0, None
    while i < len(lines):
        line = lines[i]
        fence = re.match(r"^```(\w*)", line)
        comment = re.match(r"^\s*<!-- ((?:not run|no commands).*?) -->$", line)
        if fence:
            end = next(j for j in range(i + 1, len(lines)) if lines[j].startswith("```"))
            found.append(Block(page, i + 2, fence.group(1), "\n".join(lines[i + 1:end]), marker))
            i, marker = end, None
        elif comment:
            marker = comment.group(1)
        elif line.startswith("    ") and (i == 0 or not lines[i - 1].strip()) and not in_list(lines, i):
            end = i
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            found.append(Block(page, i + 1, "", "\n".join(one[4:] for one in lines[i:end]).rstrip(), marker))
            i, marker = end - 1, None
        elif line.strip():
            marker = None
        i += 1
    return found


def in_list(lines, i):
    """Whether the paragraph before an indented line is an item of a list, whose text it may continue."""
    j = i - 1
    while j >= 0 and not lines[j].strip():
        j -= 1
    return j >= 0 and lines[j].startswith("  ") and not lines[j].startswith("    ")


class Options:
    """What the programs and scripts accept."""

    def __init__(self, root, programs):
        self.root = root
        self.former = set()  # options that were renamed, which the reference names
        self.of = {}  # program -> subcommand ("" for none) -> options
        for name in PROGRAMS:
            program = programs / f"geosft-{name}"
            help_text = self.run([program, "--help"])
            commands = re.search(r"^Subcommands:\n((?:  .*\n?)+)", help_text, re.MULTILINE)
            names = re.findall(r"^  ([\w-]+)", commands.group(1), re.MULTILINE) if commands else []
            table = {"": self.options_in(help_text)}
            for sub in names:
                table[sub] = self.options_in(self.run([program, sub, "--help"]))
            if "train" in table:
                for key in map(json.loads, self.run([program, "train", "--list-keys", "--json"]).splitlines()):
                    table["train"] |= {key["option"]} | ({"--no-" + key["option"][2:]} if key["type"] == "boolean" else set())
                    self.former.add(key["former"])
            self.of[f"geosft-{name}"] = table
        self.of["geosft-bench"][""].add("--machine")
        for sub in ("ablations", "sampling"):  # train a classifier, with its keys
            self.of["geosft-analyze"][sub] |= self.of["geosft-classify"]["train"]
        self.shared = self.options_in((root / "tools/setup.sh").read_text())
        self.scripts = set()
        for path in subprocess.run(["git", "ls-files", "tools", "tests", ".ci"], cwd=root, capture_output=True, text=True,
                                   check=True).stdout.split():
            if pathlib.Path(path).suffix in (".sh", ".py", "") and (root / path).is_file():
                self.scripts |= self.options_in((root / path).read_text(errors="replace"))

    @staticmethod
    def run(command):
        return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout

    @staticmethod
    def options_in(text):
        return set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", text))

    def everywhere(self, sub=None):
        """The options of all programs, or of a subcommand of any."""
        tables = [options for table in self.of.values() for name, options in table.items() if sub in (None, name)]
        return set().union(*tables)

    def errors(self, words):
        """What is wrong with one simple command, given as words."""
        errors = []
        for word in words:
            if re.match(r"^(tools|data|models|tests|geometry|graph|\.ci)/[\w./-]*\w$", word) and not (
                    (self.root / word).exists() or re.search(r"\b[A-Z]{3,}\b", word)):  # SET.toml stands for several
                errors.append(f"there is no {word}")
        place = next((i for i, word in enumerate(words) if re.match(r"(.*/)?geosft-[a-z]+$", word)), None)
        script = next((i for i, word in enumerate(words) if re.match(r"(.*/)?(tools|tests|\.ci)/[\w./-]+$", word)
                       and (self.root / word).is_file() and pathlib.Path(word).suffix in (".sh", ".py", "")), None)
        if place is None and script is not None:
            rest = words[script + 1:]
            text = (self.root / words[script]).read_text(errors="replace")
            known = self.options_in(text) | (self.shared if "setup.sh" in text else set()) | {"--help"}
            ours = rest[:rest.index("--")] if "--" in rest else rest
            errors += [f"{words[script]} has no option {word}" for word in given(ours) - known]
            if words[script].endswith("view.sh") and "--" in rest:
                errors += self.unknown("geosft-view", "", rest[rest.index("--") + 1:])
        elif place is not None:
            program, rest = pathlib.Path(words[place]).name, words[place + 1:]
            table = self.of.get(program)
            if table is None:
                return errors + ([] if program == "geosft-example" else [f"there is no program {program}"])
            sub = rest[0] if rest and rest[0] in table else ""
            if len(table) > 1 and not sub and rest and not rest[0].startswith(("-", "…")):
                errors.append(f"{program} has no subcommand {rest[0]}")
            errors += self.unknown(program, sub, rest)
        return errors

    def unknown(self, program, sub, words):
        return [f"{program} {sub} has no option {word}" for word in given(words) - self.of[program][sub]]


def given(words):
    return {word.split("=")[0] for word in words if re.match(r"^--?[a-zA-Z]", word)}


def simple_commands(text, variables):
    """The commands of a line, as lists of words: variables are replaced, and operators separate."""
    for _ in range(2):
        text = re.sub(r"\$\{?(\w+)\}?", lambda match: variables.get(match.group(1), match.group(0)), text)
    lexer = shlex.shlex(text, posix=True, punctuation_chars=";|&()<>")
    lexer.whitespace_split, lexer.commenters = True, "#"
    command, commands = [], []
    for word in lexer:
        if word and set(word) <= set(";|&()"):
            commands.append(command)
            command = []
        else:
            assignment = re.match(r"^(\w+)=(.*)$", word, re.DOTALL)
            if assignment and not command:
                variables[assignment.group(1)] = assignment.group(2)
            command.append(word)
    return [one for one in commands + [command] if one]


def prose_errors(page, text, options, variables):
    """Options and commands in running text, between backticks."""
    text = re.sub(r"^```.*?^```", lambda match: "\n" * match.group(0).count("\n"), text, flags=re.DOTALL | re.MULTILINE)
    subcommands = {sub for table in options.of.values() for sub in table if sub}
    everywhere, errors = options.everywhere() | options.scripts | options.former | FOREIGN, []
    for match in re.finditer(r"`([^`]+)`", text):
        line = text.count("\n", 0, match.start()) + 1
        try:
            words = shlex.split(match.group(1).replace("\n", " "))
        except ValueError:
            continue
        if not words:
            continue
        found = []
        if re.match(r"(.*/)?geosft-[a-z]+$", words[0]) or words[0].startswith(("tools/", "build/")):
            found = options.errors(words)
        elif words[0].lstrip("$") in variables and words[0].startswith("$"):
            found = [error for one in simple_commands(match.group(1), dict(variables)) for error in options.errors(one)]
        elif words[0] in subcommands and len(words) > 1:
            found = [f"no {words[0]} has an option {word}" for word in given(words) - options.everywhere(words[0])]
        elif re.match(r"^--[a-z][\w-]*", words[0]):
            names = {re.match(r"^--[a-z][\w-]*", words[0]).group(0)} | given(words[1:])
            found = [f"nothing has an option {name}" for name in names - everywhere]
        errors += [f"{page}:{line}: {error}: {match.group(1)}" for error in found]
    return errors


def box(sizes):
    corners = [[sizes[0] * x, sizes[1] * y, sizes[2] * z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    faces = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    return corners, faces


def write_off(path, sizes):
    corners, faces = box(sizes)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("OFF\n8 6 0\n" + "".join("%g %g %g\n" % tuple(c) for c in corners) + "".join("4 %d %d %d %d\n" % tuple(f) for f in faces))


def write_obj(path, sizes):
    corners, faces = box(sizes)
    path.write_text("".join("v %g %g %g\n" % tuple(c) for c in corners) + "".join("f %d %d %d %d\n" % tuple(i + 1 for i in f) for f in faces))


def write_ply(path, generator):
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = "".join("%.5f %.5f %.5f\n" % tuple(generator.gauss(0, s) for s in (1, 1, 0.3)) for _ in range(1500))
    path.write_text("ply\nformat ascii 1.0\nelement vertex 1500\nproperty float x\nproperty float y\nproperty float z\nend_header\n" + rows)


def write_tu(folder, name, count):
    """Rings and paths in the form of TU Dortmund's sets."""
    generator, base = random.Random(3), 1
    edges, indicator, labels, nodes = [], [], [], []
    for graph in range(count):
        size, ring = generator.randint(5, 9), graph % 2
        for i in range(size - 1 + ring):
            a, b = base + i, base + (i + 1) % size
            edges += [(a, b), (b, a)]
        indicator += [graph + 1] * size
        nodes += [generator.randint(0, 2) for _ in range(size)]
        labels.append(2 * ring - 1)
        base += size
    folder.mkdir(parents=True, exist_ok=True)
    for part, lines in [("A", ["%d, %d" % e for e in edges]), ("graph_indicator", indicator), ("graph_labels", labels), ("node_labels", nodes),
                        ("edge_labels", [a % 2 for a, _ in edges])]:
        (folder / f"{name}_{part}.txt").write_text("".join(f"{line}\n" for line in lines))


def write_series(folder, name):
    generator = random.Random(4)
    for part, count in (("TRAIN", 24), ("TEST", 12)):
        rows = []
        for i in range(count):
            dimensions = [",".join("%.3f" % (generator.gauss(0, 0.3) + (i % 3)) for _ in range(12)) for _ in range(2)]
            rows.append(":".join(dimensions) + f":{i % 3 + 1}\n")
        header = f"@problemName {name}\n@timeStamps false\n@univariate false\n@dimensions 2\n@equalLength true\n@seriesLength 12\n@classLabel true 1 2 3\n@data\n"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}_{part}.ts").write_text(header + "".join(rows))


def xyz_molecule(generator, comment):
    """Water or a hydroxyl radical, a little out of shape, in the form of XYZ."""
    atoms = (("O", 0, 0, 0.119), ("H", 0, 0.763, -0.477), ("H", 0, -0.763, -0.477))[:generator.randint(2, 3)]
    lines = [" ".join([symbol, *("%.4f" % (x + generator.gauss(0, 0.02)) for x in place)]) for symbol, *place in atoms]
    return "".join(f"{line}\n" for line in (len(atoms), comment, *lines))


def sample_data(folder):
    """The data that the pages' commands name, each a small stand-in of its form."""
    generator = random.Random(2)
    write_obj(folder / "chair.obj", (1, 1, 2))
    write_obj(folder / "table.obj", (2, 2, 0.7))
    write_ply(folder / "table.ply", generator)
    write_ply(folder / "scan.ply", generator)
    for i in range(2):
        write_ply(folder / "scans" / f"{i}.ply", generator)
        for kind, sizes in (("box", (1, 1, 1)), ("board", (1, 1, 0.1)), ("post", (0.1, 0.1, 1))):
            for j in range(5):
                write_off(folder / "DIR" / kind / f"{i}{j}.off", [s * generator.uniform(0.8, 1.2) for s in sizes])
    shapes = folder / "runs/quickstart/shapes"
    shapes.mkdir(parents=True)
    for name, sizes in (("chair", (1, 1, 2)), ("lamp", (0.2, 0.2, 2)), ("plant", (1, 1, 1))):
        write_obj(shapes / f"{name}.obj", sizes)
    write_tu(folder / "datasets/tu/MUTAG", "MUTAG", 40)
    write_series(folder / "datasets/uea/JapaneseVowels", "JapaneseVowels")
    write_series(folder / "series", "new")
    (folder / "new.ts").write_text((folder / "datasets/uea/JapaneseVowels/JapaneseVowels_TEST.ts").read_text())
    chains = ["C" * a + middle + "C" * b for a in range(1, 6) for b in range(1, 5) for middle in ("", "O", "N", "C(=O)", "c1ccccc1")]
    rows = "".join(f"{smiles},{int('O' in smiles)}\n" for smiles in dict.fromkeys(chains))
    (folder / "mine.csv").write_text("smiles,oxygen\n" + rows)
    (folder / "other.csv").write_text("smiles,oxygen\nCCO,1\nCCN,0\nCCCO,1\nCCC,0\n")
    (folder / "new.csv").write_text("smiles\nCCO\nCCN\n")
    (folder / "mine.xyz").write_text("".join(xyz_molecule(generator, f"energy={generator.gauss(-76, 1)}") for _ in range(40)))
    (folder / "new.xyz").write_text(xyz_molecule(generator, "") + xyz_molecule(generator, ""))
    (folder / "water.xyz").write_text("3\nwater\nO 0 0 0.119\nH 0 0.763 -0.477\nH 0 -0.763 -0.477\n")
    (folder / "edges.txt").write_text("".join(f"{i} {(i + 1) % 30}\n{i} {(i + 7) % 30}\n" for i in range(30)))


WRAPPER = """#!/bin/bash
more=()
case ${{1-}} in
  train) more=(--epochs 1 --votes 1) ;;
  sweep) more=(--set epochs=1 --set votes=1) ;;
esac
exec {program} "$@" "${{more[@]}}"
"""


def workshop(root, build, folder):
    """A folder in which the commands run: links to the checkout and the build, and programs that train one epoch."""
    for name in ("tools", "data", "models", "tests", ".venv"):
        if (root / name).exists():
            (folder / name).symlink_to(root / name)
    programs = folder / "build/release/bin"
    programs.mkdir(parents=True)
    (folder / "build/release/lib").symlink_to(build / "lib")
    for name in PROGRAMS:
        program = programs / f"geosft-{name}"
        program.write_text(WRAPPER.format(program=shlex.quote(str(build / "bin" / f"geosft-{name}"))))
        program.chmod(0o755)
    sample_data(folder)
    trained = folder / "runs/quickstart"
    for name in (root / "tools/zoo/furniture").iterdir():
        (trained / name.name).symlink_to(name)
    return programs


def run_page(page, blocks, root, build):
    """Runs the commands of a page. Returns the error, if any, and how many lines ran."""
    script, count = ["set -e -o pipefail", "trap 'echo \"line $at failed\" >&2' ERR"], 0
    for block in blocks:
        if not block.runs:  # later blocks may need its variables
            script += [text for _, text in block.lines() if re.match(r"^(\w+=\S* ?)+( *#.*)?$", text.strip())]
            continue
        for number, text in block.lines():
            if any(word in text for word in block.skipped):
                continue
            script += [f"at={number}", text]
            count += 1
    if not count:
        return [], 0
    with tempfile.TemporaryDirectory(prefix="geosft_commands_") as scratch:
        folder = pathlib.Path(scratch)
        programs = workshop(root, build, folder)
        environment = {"PATH": f"{programs}:/usr/local/bin:/usr/bin:/bin", "HOME": scratch, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
                       "XDG_CACHE_HOME": str(build / "tests/documents_cache"), "GEOSFT_ZOO": str(root / "tools/zoo"), "LC_ALL": "C.UTF-8"}
        result = subprocess.run(["bash", "-c", "\n".join(script)], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                capture_output=True, text=True, timeout=1000)
    if result.returncode == 0:
        return [], count
    return [f"{page}: {' / '.join(result.stderr.strip().splitlines()[-4:])}"], count


def compile_blocks(blocks, build):
    """Compiles the C++ blocks, each in a function of its own with the variables that the text names."""
    if not blocks:
        return []
    entries = json.loads((build / "compile_commands.json").read_text())
    entry = next(one for one in entries if "/tools/classify" in one["file"])
    words = [word for word in shlex.split(entry["command"]) if not word.endswith("ccache")]
    kept, skip = [], False
    for word in words:
        if skip or word in ("-c", "-Winvalid-pch", entry["file"]):
            skip = False
        elif word in ("-o", "-include", "-MF", "-MT"):
            skip = True
        elif not word.startswith(("-MD", "-W")):
            kept.append(word)
    headers, bodies = [], []
    for i, block in enumerate(blocks):
        lines = block.text.split("\n")
        headers += [line for line in lines if line.startswith("#include")]
        body = "\n".join(line for line in lines if not line.startswith("#include"))
        # A block may declare these itself.
        bodies.append(f"void block_{i}(at::Tensor points, at::Tensor normals, at::Tensor ptr) {{{{\n{body}\n}}}}")
    source = "#include <iostream>\n" + "\n".join(dict.fromkeys(headers)) + "\n" + "\n".join(bodies) + "\n"
    result = subprocess.run([*kept, "-Wno-shadow", "-fsyntax-only", "-x", "c++", "-"], input=source, cwd=entry["directory"], capture_output=True, text=True)
    where = ", ".join(f"{block.page}:{block.line}" for block in blocks)
    return [] if result.returncode == 0 else [f"{where}: {result.stderr[:2000]}"]


def run_python(pages):
    for page in map(pathlib.Path, pages):
        parts = [block.text for block in blocks_of(page, page.read_text()) if block.language == "python" and block.checked]
        with tempfile.TemporaryDirectory() as scratch:
            sys.path = [path for path in sys.path if path != str(pathlib.Path(__file__).parent)]
            exec(compile("\n".join(parts), str(page), "exec"), {"__name__": "__main__", "scratch": scratch})
        print(f"{page}: {len(parts)} blocks of Python ran")


def main(arguments):
    if arguments[:1] == ["--python"]:
        return run_python(arguments[1:])
    only_options = arguments[:1] == ["--options"]
    arguments = arguments[only_options:]
    root, build = (pathlib.Path(path).resolve() for path in arguments[:2])
    if not FURNITURE.exists():
        print("skipped: the package sweethome3d-furniture is not installed")
        sys.exit(77)
    pages = arguments[2:] or [name for name in subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=root, check=True,
                                                              capture_output=True, text=True).stdout.split("\n") if name]
    options, errors, cpp, ran, checked = Options(root, build / "bin"), [], [], 0, 0
    for page in pages:
        if page in OTHER_PAGES:
            continue
        text = (root / page).read_text()
        blocks = blocks_of(page, text)
        variables = {}
        for block in blocks:
            if not block.shell:
                continue
            for number, line in block.lines():
                checked += 1
                for words in simple_commands(line, variables):
                    errors += [f"{page}:{number}: {error}" for error in options.errors(words)]
        errors += prose_errors(page, re.sub(r"^    .*$", "", text, flags=re.MULTILINE), options, variables)
        cpp += [block for block in blocks if block.language == "cpp" and block.checked]
        failed, count = ([], 0) if only_options else run_page(page, [block for block in blocks if block.shell], root, build)
        if count:
            print(f"{page}: {count} lines ran" + (", FAILED" if failed else ""), flush=True)
        errors += failed
        ran += count
    errors += [] if only_options else compile_blocks(cpp, build)
    print("\n".join(errors) or f"{checked} lines of commands are right, of which {ran} ran; {len(cpp)} blocks of C++ compile")
    sys.exit(1 if errors else 0)


main(sys.argv[1:])
