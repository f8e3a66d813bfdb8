#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains and evaluates the baselines of point clouds on one dataset, all for the same processor time, and prints a table.

  geosft-classify export furniture --out datasets/furniture_arrays
  run.py datasets/furniture_arrays --ours runs/quickstart --geosft build/release/bin

Each network is trained twice: on clouds in random poses and on clouds as they are. Both are evaluated as they are and
in random poses, on the test split, which chooses nothing. `--ours` adds a RUN of geosft-classify (of geosft-segment for
data with parts). Needs PyTorch, NumPy and h5py.
"""

import argparse
import functools
import json
import pathlib
import subprocess
import sys
import time

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import clouds
import d2
import dgcnn
import pointnet

cross_entropy = nn.functional.cross_entropy


def classifier_loss(model, batch, rows, pick, *, labels, smoothing, penalty):
    loss = cross_entropy(model(batch), labels[rows], label_smoothing=smoothing)
    return loss + (pointnet.penalty(model) if penalty else 0)


NETWORKS = {
    "PointNet": dict(make=pointnet.PointNet, optimizer=pointnet.optimizer, schedule=pointnet.schedule,
                     augment=pointnet.jitter, smoothing=0.0, penalty=True),
    "DGCNN": dict(make=dgcnn.DGCNN, optimizer=dgcnn.optimizer, schedule=clouds.cosine(0.01),
                  augment=dgcnn.scale_and_shift, smoothing=0.2, penalty=False),
}


def parameters(model):
    return sum(parameter.numel() for parameter in model.parameters())


def speed(model, size, *inputs):
    """Clouds per second of inference, in batches of 32: the median of five."""
    batch, times = torch.randn(32, size, 3), []
    with torch.no_grad():
        for _ in range(6):
            start = time.perf_counter()
            model.eval()(batch, *inputs)
            times.append(time.perf_counter() - start)
    return 32 / sorted(times[1:])[2]


def classify(name, rotate, seed, options, train, test, classes):
    network = NETWORKS[name]
    torch.manual_seed(seed)
    model = network["make"](classes)
    loss = functools.partial(classifier_loss, labels=train[1], smoothing=network["smoothing"], penalty=network["penalty"])
    epochs = clouds.train(model, train[0], loss, network["optimizer"](model), network["schedule"], size=options.points,
                          rotate=rotate, augment=network["augment"], batch=32, seconds=options.seconds, seed=seed)
    scores = {}
    for pose in ("upright", "so3"):
        logits = clouds.votes(model, test[0], options.points, pose == "so3", options.votes)
        scores[pose] = (logits.argmax(1) == test[1]).double().mean().item()
    return dict(model=name, trained="in random poses" if rotate else "as they are", seed=seed, metric="accuracy",
                epochs=epochs, parameters=parameters(model), clouds_per_second=speed(model, options.points), **scores)


def instance_iou(found, truth, labels, part_class):
    """The mean over shapes of the mean IoU over the parts of the class; an absent part that is not found counts as 1.

    Points without a label, -1, and shapes of such points alone are left out; at least one shape must have a label."""
    shapes = []
    for one, true, label in zip(found, truth, labels):
        one, true = one[true >= 0], true[true >= 0]
        if len(true) == 0:
            continue
        scores = []
        for part in torch.nonzero(part_class == label).flatten():
            union = ((one == part) | (true == part)).sum()
            scores.append(1.0 if union == 0 else (((one == part) & (true == part)).sum() / union).item())
        shapes.append(sum(scores) / len(scores))
    return sum(shapes) / len(shapes)


def segment(rotate, seed, options, train, test, part_class, classes):
    torch.manual_seed(seed)
    model = pointnet.PointNetParts(classes, len(part_class))

    def loss(model, batch, rows, pick):
        logits = model(batch, train[1][rows])
        truth = train[2][rows].gather(1, pick).flatten()
        # The mean over the labelled points. That of PyTorch is NaN for a batch without any.
        loss = cross_entropy(logits.flatten(0, 1), truth, ignore_index=-1, reduction="sum") / (truth >= 0).sum().clamp_min(1)
        return loss + pointnet.penalty(model)

    epochs = clouds.train(model, train[0], loss, pointnet.optimizer(model), pointnet.schedule, size=options.points,
                          rotate=rotate, augment=pointnet.jitter, batch=32, seconds=options.seconds, seed=seed)
    allowed = part_class[None] == test[1][:, None]
    scores, every = {}, test[0].shape[1]
    for pose in ("upright", "so3"):
        logits, pick = clouds.outputs(model, test[0], every, pose == "so3", 1000, inputs=lambda rows: (test[1][rows],))
        found = logits.masked_fill(~allowed[:, None], -torch.inf).argmax(2)
        scores[pose] = instance_iou(found, test[2].gather(1, pick), test[1], part_class)
    return dict(model="PointNet", trained="in random poses" if rotate else "as they are", seed=seed, metric="instance IoU",
                epochs=epochs, parameters=parameters(model),
                clouds_per_second=speed(model, options.points, torch.zeros(32, dtype=torch.long)), **scores)


def nearest(train, test):
    right = d2.nearest_labels(train[0], train[1], test[0]) == test[1]
    score = right.double().mean().item()
    return dict(model="1-nearest neighbour, D2", trained="", seed=0, metric="accuracy", epochs=0, parameters=0,
                clouds_per_second=None, upright=score, so3=score)


def ours(options, has_parts):
    """The scores of a RUN, as `eval` prints them."""
    program = pathlib.Path(options.geosft) / ("geosft-segment" if has_parts else "geosft-classify")
    scores = {}
    for pose, rotation in (("upright", "none"), ("so3", "so3")):
        command = [str(program), "eval", options.ours, "--json", "--rotate", rotation, "--threads", str(options.threads)]
        result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        scores[pose] = result["metrics"]["instance_iou" if has_parts else "accuracy"]
    return dict(model="geosft", trained="", seed=0, metric="instance IoU" if has_parts else "accuracy", epochs=0,
                parameters=0, clouds_per_second=result["clouds_per_second"], **scores)


def table(rows):
    lines = ["| model | trained on clouds | upright | under SO(3) | epochs | parameters | clouds/s |", "|---|---|---|---|---|---|---|"]
    groups = {}
    for row in rows:
        groups.setdefault((row["model"], row["trained"]), []).append(row)
    for (model, trained), group in groups.items():
        def score(pose):
            values = torch.tensor([row[pose] for row in group], dtype=torch.float64) * 100
            spread = f" ± {values.std().item():.1f}" if len(group) > 1 else ""
            return f"{values.mean().item():.1f}{spread} %"
        first = group[0]
        rate = "" if first["clouds_per_second"] is None else f"{first['clouds_per_second']:.0f}"
        lines.append(f"| {model} | {trained} | {score('upright')} | {score('so3')} | {first['epochs'] or ''} "
                     f"| {first['parameters'] or ''} | {rate} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", metavar="DATA", help="folder with ply_data_train*.h5 and ply_data_test*.h5")
    parser.add_argument("--seconds", type=float, default=360, help="processor time of each training, all threads counted "
                        "(default: %(default)s, the quickstart's three minutes on two cores)")
    parser.add_argument("--points", type=int, default=256, help="random points of a cloud that a network sees")
    parser.add_argument("--votes", type=int, default=10, help="subsets of the points whose logits are averaged")
    parser.add_argument("--seeds", type=int, default=1, help="trainings of each kind")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--models", default="PointNet,DGCNN,D2", help="which, separated by commas (default: %(default)s)")
    parser.add_argument("--ours", metavar="RUN", help="also evaluate this RUN")
    parser.add_argument("--geosft", default="build/release/bin", metavar="DIR", help="where the programs are")
    parser.add_argument("--json", action="store_true", help="print an object for each training as it ends")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    train, test = clouds.read_split(options.data, "train"), clouds.read_split(options.data, "test")
    classes = len((pathlib.Path(options.data) / "shape_names.txt").read_text().split("\n")) - 1
    has_parts, rows = train[2] is not None, []
    for split, (_, _, parts) in (("train", train), ("test", test)):
        if parts is not None and not (parts >= 0).any():
            sys.exit(f"run.py: {options.data} ({split}): expected a point with a label, found none among {parts.numel()}")

    def add(row):
        rows.append(row)
        print(json.dumps(row), file=sys.stdout if options.json else sys.stderr, flush=True)

    if options.ours:
        add(ours(options, has_parts))
    if has_parts:
        names = (pathlib.Path(options.data) / "shape_names.txt").read_text().split()
        listed = [line.split() for line in (pathlib.Path(options.data) / "parts.txt").read_text().splitlines() if line.strip()]
        part_class = torch.tensor([names.index(words[1]) for words in listed])
        for seed in range(options.seeds):
            for rotate in (True, False):
                add(segment(rotate, seed, options, train, test, part_class, classes))
    else:
        chosen = options.models.split(",")
        if "D2" in chosen:
            add(nearest(train, test))
        for seed in range(options.seeds):
            for name in (name for name in NETWORKS if name in chosen):
                for rotate in (True, False):
                    add(classify(name, rotate, seed, options, train, test, classes))
    print(table(rows))


if __name__ == "__main__":
    main()
