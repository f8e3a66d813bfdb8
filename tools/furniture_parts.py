#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes labelled meshes of the chairs, tables and lamps of Debian's sweethome3d-furniture, to try geosft-segment with.

  furniture_parts.py --out FOLDER
  convert_parts.py FOLDER --out DIR

Nobody has labelled these models: a face is of a part by how high above the floor its middle lies (a chair's legs end at
0.45 of its height). That is good for trying commands, and no benchmark. FOLDER is laid out as convert_parts.py reads it.
"""

import argparse
import csv
import pathlib
import sys
import zipfile

LABELS = pathlib.Path(__file__).resolve().parent.parent / "data" / "points" / "furniture_labels.csv"
# Of a class its parts from below, each with the share of the height at which it ends.
PARTS = {
    "chair": (("legs", 0.45), ("seat", 0.6), ("back", 1.0)),
    "lamp": (("stand", 0.65), ("shade", 1.0)),
    "table": (("legs", 0.85), ("top", 1.0)),
}
UP = 1  # OBJ files of the furniture stand along y


def read_obj(text):
    """Vertices as written, with their heights, and faces as numbers of vertices from 0."""
    vertices, heights, faces = [], [], []
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["v"]:
            vertices.append(" ".join(words[1:4]))
            heights.append(float(words[1 + UP]))
        elif words[:1] == ["f"]:
            corners = [int(word.split("/")[0]) for word in words[1:]]
            faces.append([corner - 1 if corner > 0 else len(vertices) + corner for corner in corners])
    return vertices, heights, [face for face in faces if len(face) > 2]


def parts_of(heights, faces, parts):
    """The numbers of the faces of each part, from 1."""
    used = [heights[corner] for face in faces for corner in face]
    low, high = min(used), max(used)
    found = {name: [] for name, _ in parts}
    for number, face in enumerate(faces, 1):
        share = (sum(heights[corner] for corner in face) / len(face) - low) / ((high - low) or 1.0)
        found[next((name for name, end in parts if share < end), parts[-1][0])].append(number)
    return found


def write_mesh(folder, name, text, parts):
    vertices, heights, faces = read_obj(text)
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["OFF", f"{len(vertices)} {len(faces)} 0", *vertices]
    lines += [" ".join(map(str, [len(face), *face])) for face in faces]
    (folder / f"{name}.off").write_text("\n".join(lines) + "\n")
    labels = [f"{part}\n{' '.join(map(str, of))}\n" for part, of in parts_of(heights, faces, parts).items() if of]
    (folder / f"{name}_labels.txt").write_text("".join(labels))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--furniture", default="/usr/share/sweethome3d/furniture", type=pathlib.Path, metavar="DIR",
                        help="where the .sh3f archives lie (default: %(default)s)")
    parser.add_argument("--each", type=int, metavar="N", help="no more than N models of a class (default: all)")
    options = parser.parse_args()
    counts = dict.fromkeys(PARTS, 0)
    try:
        with open(LABELS, newline="", encoding="utf-8") as labels:
            rows = [row for row in csv.DictReader(labels) if row["class"] in PARTS]
        for row in rows:
            name = row["class"]
            if counts[name] == options.each:
                continue
            counts[name] += 1
            with zipfile.ZipFile(options.furniture / f"{row['library']}.sh3f") as archive:
                text = archive.read(row["model"]).decode("utf-8", "replace")
            write_mesh(options.out / name, counts[name], text, PARTS[name])
    except OSError as error:
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {error} (is the package sweethome3d-furniture installed?)")
    print(f"{options.out}: " + ", ".join(f"{count} {name}s" for name, count in counts.items()))


if __name__ == "__main__":
    main()
