#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a model of the zoo and writes its folder: configuration, classes, weights and card.

  tools/zoo/make.py furniture                         # trains in runs/zoo/furniture, a few minutes
  tools/zoo/make.py furniture --run runs/zoo/furniture   # takes a run that is there
  tools/zoo/make.py qm7 --data datasets/qm7

tools/zoo/models.toml says how each is trained and evaluated, and whose data it learns from. The folder holds nothing
but the best weights of each network and the kernel regression of a run that has one: no optimiser, no pictures, no path of this machine. Needs Python 3.11, and nothing else.
"""

import argparse
import datetime
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MAGIC = b"GEOSFT checkpoint 1\n"
ALIGNMENT = 64
ITEM_SIZES = {"float64": 8, "complex64": 8, "int64": 8, "complex128": 16, "float32": 4, "int32": 4, "complex32": 4,
              "float16": 2, "bfloat16": 2, "int16": 2, "uint8": 1, "int8": 1, "bool": 1}


def aligned(position):
    return -(-position // ALIGNMENT) * ALIGNMENT


def read_checkpoint(file):
    """The entries of a checkpoint (data/checkpoint.h): header line without the size of a text, and bytes."""
    content = file.read_bytes()
    end = content.index(b"\n", len(MAGIC))
    header_size, total = map(int, content[len(MAGIC):end].split())
    if not content.startswith(MAGIC) or total != len(content) or zlib.crc32(content[:-4]) != int.from_bytes(content[-4:], "little"):
        sys.exit(f"{file}: expected an intact checkpoint, found another file")
    position, entries = end + 1 + header_size, []
    for line in content[end + 1:position].decode().splitlines():
        kind, name, *words = line.split(" ")
        size = int(words[0]) if kind == "text" else ITEM_SIZES[words[0]]
        if kind == "tensor":
            for extent in words[1:]:
                size *= int(extent)
        position = aligned(position)
        entries.append((kind, name, [] if kind == "text" else words, content[position:position + size]))
        position += size
    return entries


def write_checkpoint(file, entries):
    header = "".join(" ".join([kind, name, *words, *([str(len(data))] if kind == "text" else [])]) + "\n"
                     for kind, name, words, data in entries).encode()
    frame = lambda total: MAGIC + f"{len(header)} {total:>20}\n".encode()
    body = bytearray(frame(0) + header)
    for *_, data in entries:
        body += bytes(aligned(len(body)) - len(body)) + data
    body[:len(frame(0))] = frame(len(body) + 4)
    file.write_bytes(bytes(body) + zlib.crc32(body).to_bytes(4, "little"))


def portable(config, data):
    """The configuration without the paths of this machine. The run that a network began with keeps its name: for each network of an
    ensemble that of the whole run, and for a checkpoint that of its run."""
    def named(match):
        path = last = pathlib.PurePosixPath(match[2])
        while re.fullmatch(r"model_\d+|.*\.ckpt", last.name):
            last = last.parent
        return f'{match[1]} = "{last.name or path.name}"'

    config = re.sub(r'(?m)^data = ".*"$', f'data = "{data}"', config)
    return re.sub(r'(?m)^(init_from|split_folder) = "(.*/.*)"$', named, config)


def run(words, **options):
    print("$ " + " ".join(words), file=sys.stderr)
    return subprocess.run(words, check=True, cwd=ROOT, **options)


def scores_of(program, folder, model, data):
    """Evaluations of the test split. Clouds come under any rotation first, and with estimated normals last: as scans."""
    clouds = model["tool"] != "geosft-graph"
    takes_normals = clouds and tomllib.loads((folder / "config.toml").read_text())["clouds"]["normals"]
    variants = [["--rotate", "so3"], ["--rotate", "none"]] if clouds else [[]]
    scores = []
    for variant in variants + ([["--estimated-normals"]] if takes_normals else []):
        place = ["--data", data] if data else []
        result = json.loads(run([program, "eval", str(folder), *place, *variant, "--json"], capture_output=True, text=True).stdout)
        score = {"metric": model["metric"], "unit": model["unit"], "split": result["split"], "count": result["count"],
                 **({"rotation": result["rotation"]} if clouds else {}), "metrics": result["metrics"]}
        scores.append(score | ({"normals": "estimated"} if variant == ["--estimated-normals"] else {}))
    return scores


def revision():
    found = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return found.stdout.strip() or "unknown"


def copy_network(trained, folder, data):
    """Copies the best weights of a run, of which `data` is what it calls its dataset."""
    folder.mkdir(parents=True)
    entries = []
    for kind, entry, words, content in read_checkpoint(trained / "best.ckpt"):
        if kind == "text" and entry == "config":
            config = portable(content.decode(), data)
            content = config.encode()
        entries.append((kind, entry, words, content))
    write_checkpoint(folder / "best.ckpt", entries)
    (folder / "config.toml").write_text(config)
    for file in ("classes.txt", "version"):
        shutil.copy(trained / file, folder / file)


def make(name, model, options):
    program = str(pathlib.Path(options.geosft).resolve() / model["tool"])
    data = str(pathlib.Path(options.data).resolve()) if options.data else model["data"]
    trained = pathlib.Path(options.run or ROOT / "runs" / "zoo" / name).resolve()
    place = ["--data", data] if data else []
    if not options.run:
        run([program, "train", *model["train"], *place, "--out", str(trained)])
    folder = pathlib.Path(options.out) / name
    shutil.rmtree(folder, ignore_errors=True)
    networks = ["", *sorted(str(member.relative_to(trained)) + "/" for member in trained.glob("model_*"))]
    for network in networks:
        copy_network(trained / network, folder / network, model["data"] or name)
    regression = ["kernel.ckpt"] if (trained / "kernel.ckpt").exists() else []
    for file in regression:
        shutil.copy(trained / file, folder / file)
    with tempfile.TemporaryDirectory() as copy:  # an evaluation leaves pictures in its RUN
        evaluated = shutil.copytree(folder, pathlib.Path(copy) / name)
        scores = scores_of(program, evaluated, model, data)
    shown = [*model["train"], *(["--data", model["data"] or "DATA"] if data else [])]
    card = {"name": name, "tool": model["tool"], "summary": model["summary"],
            "command": " ".join([model["tool"], "train", *shown, "--out", "RUN"]),
            "revision": options.revision or revision(), "date": datetime.date.today().isoformat(), "scores": scores,
            "data": {"name": model["data_name"], "licence": model["licence"], "credit": model["credit"]},
            "sha256": {file: hashlib.sha256((folder / file).read_bytes()).hexdigest()
                       for file in (*(network + file for network in networks for file in ("best.ckpt", "classes.txt", "config.toml")),
                                    *regression)}}
    (folder / "card.json").write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n")
    print(f"{folder}: {sum(os.path.getsize(file) for file in folder.rglob('*.ckpt')) / 1e6:.1f} MB")


def main():
    models = tomllib.loads((ROOT / "tools" / "zoo" / "models.toml").read_text())
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=sorted(models))
    parser.add_argument("--run", help="RUN folder of a finished training with the model's options (default: train)")
    parser.add_argument("--data", help="folder of the dataset, for models that name none")
    parser.add_argument("--geosft", default="build/release/bin", help="where the programs are (default: %(default)s)")
    parser.add_argument("--out", default=ROOT / "tools" / "zoo", help="folder of the zoo (default: tools/zoo)")
    parser.add_argument("--revision", help="of the program that trained (default: that of the checkout)")
    options = parser.parse_args()
    if not models[options.name]["data"] and not options.data:
        parser.error(f"--data is required for {options.name}: {models[options.name]['data_name']}")
    try:
        make(options.name, models[options.name], options)
    except subprocess.CalledProcessError as error:
        sys.exit(f"{' '.join(error.cmd[:2])} failed with {error.returncode}")


if __name__ == "__main__":
    main()
