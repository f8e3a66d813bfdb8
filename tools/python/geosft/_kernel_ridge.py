# SPDX-License-Identifier: Apache-2.0
"""Predictions of the kernel ridge regression of a run of molecules or clouds, and of a random forest beside it, as models/kernel_ridge.h and
models/random_forest.h define them."""

from __future__ import annotations

import pathlib

import torch
from torch import Tensor

from .checkpoints import load_checkpoint, save_checkpoint

_FILE = "kernel.ckpt"


class KernelRidge:
    """The regression in a RUN folder, with its random forest if it has one, and their `weight` beside the networks. Works on the CPU, in
    float64."""

    def __init__(self, tensors: dict[str, Tensor], texts: dict[str, str]):
        self.texts, self.weight = texts, float(tensors["weight"])
        self.average_logits = int(tensors.get("average_logits", 0)) != 0  # files before it average probabilities
        self.state = tensors

    @classmethod
    def of_run(cls, folder: pathlib.Path, tool: str) -> KernelRidge | None:
        """That of a RUN of `tool`; None for a RUN without one. Raises a ValueError that names a file of another kind."""
        file = folder / _FILE
        if not file.is_file():
            return None
        tensors, texts = load_checkpoint(file)
        if texts.get("kind") != f"{tool} kernel":
            raise ValueError(f"{file}: expected the kernel regression of a run, found another checkpoint")
        return cls(tensors, texts)

    @property
    def columns(self) -> int:
        """Columns of the features that the regression was fitted to."""
        return self.state["scores"].shape[1] + self.state["counts"].shape[1]

    @property
    def name(self) -> str:
        """What it predicts with: a kernel ridge regression, a random forest where that has the whole share, or both."""
        if "forest.roots" not in self.state:
            return "kernel ridge regression"
        return "random forest" if float(self.state["forest_share"]) == 1 else "kernel ridge regression and random forest"

    def save(self, folder: pathlib.Path) -> None:
        save_checkpoint(folder / _FILE, self.state, self.texts)

    def predict(self, features: Tensor) -> Tensor:
        """Targets in the unit of the data, or logits of labels or classes, [B, outputs], from the `graph_features` [B, columns]. Those of
        the regression and of the forest are averaged."""
        outputs = self._regression(features)
        return torch.lerp(outputs, self._forest(features), float(self.state["forest_share"])) if "forest.roots" in self.state else outputs

    def _regression(self, features: Tensor) -> Tensor:
        state, features = self.state, features.detach().cpu().double()
        described, bits, (of_gaussian, of_linear, of_counts) = state["scores"].shape[1], int(state["bits"]), state["mixture"]
        known = state["scores"].double()
        outputs = torch.zeros(len(features), len(of_counts), dtype=torch.double)
        if described > 0:
            scores = self._scores(features[:, :described])
            gaussian = torch.exp(-float(state["gaussian"]) * torch.cdist(scores, known, compute_mode="donot_use_mm_for_euclid_dist") ** 2)
            outputs += gaussian @ (state["weights"] * of_gaussian) + scores @ known.T / described @ (state["weights"] * of_linear)
        largest = torch.iinfo(state["counts"].dtype).max
        counts = torch.expm1(features[:, described:].nan_to_num(0.0)).round().clamp(0, largest)
        known_counts = state["counts"].double()
        if int(state.get("logarithms", 0)) != 0:  # checkpoints before it have kernels of counts
            counts, known_counts = counts.log1p(), known_counts.log1p()
        blocks = counts.shape[1] // bits
        for block in range(blocks):
            a, b = (one[:, block * bits:(block + 1) * bits] for one in (counts, known_counts))
            total, difference = a.sum(1)[:, None] + b.sum(1), torch.cdist(a, b, p=1)
            similarity = torch.where(total > 0, (total - difference) / (total + difference), 1.0)  # sum of minima over that of maxima
            outputs += similarity @ (state["weights"] * of_counts) / blocks
        return outputs * state["slope"] + state["offset"]

    def _forest(self, features: Tensor) -> Tensor:
        """Logits of labels, of the trees."""
        feature, left, value, zero_right, roots = (self.state[f"forest.{name}"] for name in ("feature", "left", "value", "zero_right", "roots"))
        given = features.detach().cpu().float().nan_to_num(0.0)
        trees = roots.shape[1]
        means = []
        for of_target in roots:
            node = of_target.expand(len(given), trees)
            while (inner := feature[node] >= 0).any():
                column = feature[node].clamp_min(0).long()
                count = given.gather(1, column)
                right = torch.where(count == 0, zero_right[node] != 0, count >= value[node])
                node = torch.where(inner, left[node] + right, node)
            means.append(value[node].double().mean(1))
        return ((torch.stack(means, 1) * trees + self.state["forest.share"]) / (trees + 1)).logit()

    def _scores(self, descriptors: Tensor) -> Tensor:
        """Normal scores of descriptors, 0 where they are unknown."""
        scores, ptr = torch.zeros_like(descriptors), self.state["knot_ptr"].tolist()
        for column, (begin, end) in enumerate(zip(ptr, ptr[1:])):
            if begin == end:
                continue
            values, heights = self.state["knot_values"][begin:end], self.state["knot_scores"][begin:end]
            given = descriptors[:, column].contiguous()
            right = torch.searchsorted(values, given, right=True).clamp(1, end - begin - 1)
            part = ((given - values[right - 1]) / (values[right] - values[right - 1])).clamp(0, 1)
            found = heights[right - 1] + part * (heights[right] - heights[right - 1])
            scores[:, column] = torch.where(given.isnan(), 0.0, found)
        return scores
