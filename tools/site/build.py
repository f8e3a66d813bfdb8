#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the site of the documents without warnings, and checks its links.

usage: build.py OUT [REFERENCE]   OUT gets docs/ (the pages as they are read) and site/; REFERENCE is Doxygen's html folder

Goes on with the Python of build/site-venv, which tools/site.sh --setup makes, where this one has no MkDocs with its theme
Material; ends with 77 (skipped) where there is none.
"""
import html.parser
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FENCES = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)


def pages():
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True)
    return [pathlib.PurePosixPath(name) for name in names.stdout.split("\n") if name and name != "tools/reference/main.md"]


def linked_files(page, text):
    """Files of the checkout, pictures for example, that a page links to."""
    for target in re.findall(r"\]\(([^)\s#]+)[^)]*\)", FENCES.sub("", text)):
        if not re.match(r"[a-z]+:", target) and not target.endswith(".md"):
            yield pathlib.Path(os.path.normpath(pathlib.Path(page).parent / target))


def stage(docs):
    """Copies the pages, and what they link to, into one folder with the paths of the checkout."""
    shutil.rmtree(docs, ignore_errors=True)
    for page in pages():
        text = (ROOT / page).read_text()
        for file in linked_files(page, text):
            (docs / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / file, docs / file)
        (docs / page).parent.mkdir(parents=True, exist_ok=True)
        (docs / page).write_text(re.sub(r"^<!-- (SPDX|not run|no commands|Written by).*-->\n\n?", "", text, flags=re.MULTILINE))
    shutil.copyfile(HERE / "site.css", docs / "site.css")


def configuration(out, reference):
    """The configuration with absolute folders; the API reference is the last entry of the navigation, where there is one."""
    text = (HERE / "mkdocs.yml").read_text()
    text = text.replace("docs_dir: docs", f"docs_dir: {out / 'docs'}").replace("site_dir: site", f"site_dir: {out / 'site'}")
    if reference:
        shutil.copytree(reference, out / "docs/api")
        text += "  - C++ API: api/index.html\n"
    (out / "mkdocs.yml").write_text(text)
    return out / "mkdocs.yml"


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.targets, self.anchors = [], set()

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.targets.append(value)
            if name in ("id", "name") and value:
                self.anchors.add(value)


def broken_links(site):
    """Links of the built pages, those of Doxygen aside, to files or anchors that are not there."""
    parsed, broken = {}, []

    def parse(path):
        if path not in parsed:
            parsed[path] = Links()
            parsed[path].feed(path.read_text())
        return parsed[path]

    for page in sorted(site.rglob("*.html")):
        if page.relative_to(site).parts[0] == "api" or page.name == "404.html":
            continue
        for target in parse(page).targets:
            link = urllib.parse.urlsplit(target)
            if link.scheme or link.netloc:
                continue
            path = (page.parent / urllib.parse.unquote(link.path)).resolve() if link.path else page
            path = path / "index.html" if path.is_dir() else path
            if not path.exists():
                broken.append(f"{page.relative_to(site)}: there is no {target}")
            elif link.fragment and path.suffix == ".html" and urllib.parse.unquote(link.fragment) not in parse(path).anchors | {"__top"}:
                broken.append(f"{page.relative_to(site)}: no place for {target}")
    return broken, len(parsed)


def main(arguments):
    if not 1 <= len(arguments) <= 2:
        sys.exit(__doc__)
    if not all(importlib.util.find_spec(name) for name in ("mkdocs", "material")):
        other = ROOT / "build/site-venv/bin/python"
        if other.exists() and pathlib.Path(sys.prefix).resolve() != other.parent.parent.resolve():
            os.execv(other, [str(other), __file__, *arguments])
        print(f"skipped: {sys.executable} has no mkdocs and mkdocs-material (tools/site.sh --setup installs them)")
        sys.exit(77)
    out = pathlib.Path(arguments[0]).resolve()
    reference = pathlib.Path(arguments[1]).resolve() if len(arguments) > 1 and (pathlib.Path(arguments[1]) / "index.html").exists() else None
    out.mkdir(parents=True, exist_ok=True)
    stage(out / "docs")
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "DISABLE_MKDOCS_2_WARNING": "true"}
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--clean", "--config-file", str(configuration(out, reference))],
                   check=True, env=environment)
    broken, count = broken_links(out / "site")
    print("\n".join(broken) or f"{count} pages, whose links lead somewhere: {out / 'site/index.html'}")
    sys.exit(1 if broken else 0)


main(sys.argv[1:])
