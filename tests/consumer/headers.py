# SPDX-License-Identifier: Apache-2.0
"""usage: headers.py BUILD FOLDER
Every public header, as BUILD installs it below FOLDER, compiles alone, with nothing but LibTorch and the C++ library: one
that names another library's header, or forgets one that it needs, is a failure. By clang, which takes from a precompiled
header what it needs, and g++ all of it: the build is g++'s. FOLDER.known remembers the headers that were found good, with
all that they include: they are not compiled again. Exit status 77: there is no clang++-14."""

import collections
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys

compiler = "clang++-14"
folders = ("geometry", "graph", "models", "data", "tools")
included = re.compile(r"^ *# *include +(\S+)", re.MULTILINE)


def main(build, folder):
    if shutil.which(compiler) is None:
        print(f"no {compiler}")
        return 77
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    subprocess.run(["cmake", "--install", build, "--prefix", folder / "prefix"], check=True, stdout=subprocess.DEVNULL)
    root = folder / "prefix/include/geosft"
    torch = re.search(r'set\(GEOSFT_TORCH_DIR "(.*)"\)', (folder / "prefix/lib/cmake/geosft/geosftConfig.cmake").read_text())[1]
    command = [compiler, "-std=c++20", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-fpch-instantiate-templates",
               f"-I{root}", f"-isystem{torch}/include", f"-isystem{torch}/include/torch/csrc/api/include"]

    headers = sorted(str(path.relative_to(root)) for part in folders for path in (root / part).rglob("*.h"))
    texts = {header: (root / header).read_text() for header in headers}
    names = {header: included.findall(texts[header]) for header in headers}
    ours = re.compile(rf'"({"|".join(folders)})/')
    theirs = re.compile(r"<((ATen|c10|torch)/.*|[a-z_]+)>")
    foreign = [f"{header}: {name}" for header in headers for name in names[header] if not ours.match(name) and not theirs.match(name)]
    if foreign:
        print("headers of other libraries:", *foreign, sep="\n")
        return 1

    def closure(header):
        """The header and, directly or not, what it includes of ours."""
        found = [header]
        for one in found:
            found += [name.strip('"') for name in names[one] if ours.match(name) and name.strip('"') not in found]
        return found

    def libtorch(header):
        return frozenset(name for one in closure(header) for name in names[one] if "/" in name and theirs.match(name))

    # Reading LibTorch takes most of the time: what several headers include of it, and nothing else, is read once, on top
    # of what most headers need. (A third layer makes clang++-14 crash.)
    needed = {header: libtorch(header) for header in headers}
    counts = collections.Counter(needed.values())
    shared = sorted((names for names, count in counts.items() if names and count > 1), key=lambda names: (-len(names), sorted(names)))
    precompiled = {}

    def reading_before(names):
        """The compiler's options that read the largest shared part of what is named."""
        part = next((part for part in shared if part <= names), None)
        if part is None:
            return []
        if part not in precompiled:
            widest = max((other for other in shared if other < part), key=lambda other: counts[other], default=frozenset())
            lines = "".join(f"#include {name}\n" for name in sorted(part))
            before = reading_before(widest)  # which may precompile another one first
            output = folder / f"{len(precompiled)}.pch"
            subprocess.run(command + before + ["-x", "c++-header", "-", "-o", output], input=lines, text=True, check=True)
            precompiled[part] = output
        return ["-include-pch", precompiled[part]]

    known = pathlib.Path(f"{folder}.known")
    known.mkdir(exist_ok=True)
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    compiled = bad = 0
    for header in headers:
        parts = [texts[one] for one in closure(header)] + [version, torch, pathlib.Path(__file__).read_text()]
        stamp = known / hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
        if stamp.exists():
            continue
        compiled += 1
        # Included by standard input: the header itself would be a main file with #pragma once.
        line = f'#include "{header}"\n'
        words = command + reading_before(needed[header]) + ["-fsyntax-only", "-x", "c++", "-"]
        if subprocess.run(words, input=line, text=True).returncode == 0:
            stamp.touch()
        else:
            print(f"{header} does not compile alone")
            bad += 1
    shutil.rmtree(folder)
    print(f"{len(headers)} headers, {bad} of which do not compile alone ({compiled} compiled now)")
    return 1 if bad else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
