# SPDX-License-Identifier: Apache-2.0
"""Data, training and evaluation that the baselines share: clouds in ModelNet40's or ShapeNetPart's HDF5 form."""

import math
import pathlib
import time

import h5py
import numpy as np
import torch
from torch import nn


def read_split(folder, split):
    """The clouds of a split: points float32 [N, P, 3], labels int64 [N], and the parts int64 [N, P], -1 without a label, or None."""
    folder = pathlib.Path(folder)
    files = sorted(folder.glob(f"ply_data_{split}*.h5"))
    if not files:
        raise FileNotFoundError(f"{folder}: expected ply_data_{split}*.h5 (geosft-classify export writes them), found none")
    arrays = [h5py.File(file, "r") for file in files]
    points, labels = (torch.from_numpy(np.concatenate([array[key][:] for array in arrays])) for key in ("data", "label"))
    parts = torch.from_numpy(np.concatenate([array["pid"][:] for array in arrays])).long() if "pid" in arrays[0] else None
    return points.float(), labels.flatten().long(), parts


def normalized(points):
    """Centred clouds whose farthest point lies at distance 1: [B, P, 3]."""
    points = points - points.mean(1, keepdim=True)
    return points / points.norm(dim=2).amax(1)[:, None, None].clamp_min(1e-12)


def random_rotations(count, generator):
    """Uniform rotations [count, 3, 3], from normalised quaternions."""
    w, x, y, z = nn.functional.normalize(torch.randn(count, 4, generator=generator), dim=1).unbind(1)
    rows = (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w),
            2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
            2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y))
    return torch.stack(rows, 1).view(count, 3, 3)


def batch_of(points, rows, size, rotate, generator):
    """A random subset of `size` points of each of the clouds `rows`, normalised and, by `rotate`, in any pose. Returns
    the clouds [B, size, 3] and the indices [B, size] of their points."""
    pick = torch.rand(len(rows), points.shape[1], generator=generator).argsort(1)[:, :size]
    chosen = normalized(points[rows].gather(1, pick[..., None].expand(-1, -1, 3)))
    if rotate:
        chosen = chosen @ random_rotations(len(rows), generator)
    return chosen, pick


def train(model, data, loss_of, optimizer, schedule, *, size, rotate, augment, batch, seconds, seed):
    """Trains for `seconds` of processor time, all threads counted. loss_of(model, clouds, rows, pick) is the loss of a
    batch, augment(clouds, generator) changes its clouds, and schedule(done) is the factor of the learning rate once a
    share `done` of the time is over. Returns the number of epochs."""
    generator = torch.Generator().manual_seed(seed)
    rates = [group["lr"] for group in optimizer.param_groups]
    start, epochs = time.process_time(), 0
    while True:
        model.train()
        order = torch.randperm(len(data), generator=generator)
        for rows in order.split(batch):
            done = (time.process_time() - start) / seconds
            if done >= 1:
                return epochs
            if len(rows) < 2:
                continue  # batch normalisation needs two clouds
            for group, rate in zip(optimizer.param_groups, rates):
                group["lr"] = rate * schedule(done)
            clouds, pick = batch_of(data, rows, size, rotate, generator)
            optimizer.zero_grad()
            loss_of(model, augment(clouds, generator), rows, pick).backward()
            optimizer.step()
        epochs += 1


@torch.no_grad()
def outputs(model, points, size, rotate, seed, inputs=None, batch=32):
    """What `model` computes for each cloud, from a random subset of `size` points: tensors over all clouds, and the
    indices of the points. `inputs(rows)` are further arguments of the model."""
    model.eval()
    generator = torch.Generator().manual_seed(seed)
    results, picks = [], []
    for rows in torch.arange(len(points)).split(batch):
        clouds, pick = batch_of(points, rows, size, rotate, generator)
        results.append(model(clouds, *(inputs(rows) if inputs else ())))
        picks.append(pick)
    return torch.cat(results), torch.cat(picks)


def votes(model, points, size, rotate, count):
    """Logits averaged over `count` subsets of the points, all in one pose a cloud, as `geosft-classify eval` votes."""
    posed = points
    if rotate:
        posed = points @ random_rotations(len(points), torch.Generator().manual_seed(1000))
    return sum(outputs(model, posed, size, False, vote)[0] for vote in range(count)) / count


def cosine(low):
    """The schedule from 1 to `low` along half a cosine."""
    return lambda done: low + (1 - low) * 0.5 * (1 + math.cos(math.pi * min(done, 1)))
