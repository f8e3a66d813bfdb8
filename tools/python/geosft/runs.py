# SPDX-License-Identifier: Apache-2.0
"""Loads trained point-cloud models from the RUN folders of the command-line tools."""

from __future__ import annotations

import pathlib
import sys
import urllib.parse
import zlib
from typing import Any

import torch
from torch import Tensor

from .nn import PointClassifier, PointSegmenter, SamplingContext

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_MAGIC = b"GEOSFT checkpoint 1\n"
_DTYPES = {"float32": torch.float32, "float64": torch.float64, "float16": torch.float16, "bfloat16": torch.bfloat16,
           "complex64": torch.complex64, "complex128": torch.complex128, "complex32": torch.complex32,
           "uint8": torch.uint8, "int8": torch.int8, "int16": torch.int16, "int32": torch.int32, "int64": torch.int64,
           "bool": torch.bool}


def load_checkpoint(file: str | pathlib.Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors and the texts of a checkpoint (data/checkpoint.h). Nothing in the file is executed. Raises a
    ValueError that names the file if it is damaged or of another kind."""
    content = pathlib.Path(file).read_bytes()
    if not content.startswith(_MAGIC):
        raise ValueError(f"{file}: expected a checkpoint of geosft, version 1, found another kind of file")
    try:
        end = content.index(b"\n", len(_MAGIC))
        header_size, total = map(int, content[len(_MAGIC):end].split())
        intact = total == len(content) and zlib.crc32(content[:-4]) == int.from_bytes(content[-4:], "little")
        if not intact:
            raise ValueError("its size or its checksum is another one")
        position = end + 1 + header_size
        tensors, texts = {}, {}
        for line in content[end + 1:position].decode().splitlines():
            kind, name, *words = line.split(" ")
            name = "" if name == "%" else urllib.parse.unquote(name)
            position = -(-position // 64) * 64
            if kind == "text":
                size = int(words[0])
                texts[name] = content[position:position + size].decode()
            else:
                shape, dtype = [int(word) for word in words[1:]], _DTYPES[words[0]]
                count = torch.Size(shape).numel()
                size = count * dtype.itemsize
                data = bytearray(content[position:position + size])
                tensors[name] = torch.frombuffer(data, dtype=dtype, count=count).view(shape) if count else torch.empty(shape, dtype=dtype)
            position += size
    except (KeyError, ValueError, IndexError) as error:
        raise ValueError(f"{file}: the checkpoint is damaged: {error}") from None
    return tensors, texts


class TrainedClassifier(PointClassifier):
    """A :class:`geosft.nn.PointClassifier` of a RUN: `class_names`, and its configuration `config` by section."""

    class_names: list[str]
    config: dict[str, Any]

    @torch.no_grad()
    def predict(self, points: Tensor, normals: Tensor | None = None) -> Tensor:
        """Probabilities [num_classes] of a cloud: points [n, 3] in any unit, far from the origin or not, and normals
        [n, 3] of unit length where the model has them. The cloud is centred and scaled to the unit ball in float64;
        logits are averaged over the votes of the configuration. All points are used: give as many as
        ``config["clouds"]["points"]``, which the model was trained with."""
        if points.dim() != 2 or points.shape[0] == 0 or points.shape[1] != 3 or not points.isfinite().all():
            raise ValueError(f"points must be finite, of shape [n, 3] with n >= 1, got shape {list(points.shape)}")
        training = self.training
        self.eval()
        try:
            weight = self.embed.weight
            offset = points.to(weight.device, torch.float64) - points[0].to(weight.device, torch.float64)
            offset = offset - offset.mean(0)
            radius = offset.norm(dim=1).max()
            seen = (offset / torch.where(radius > 0, radius, 1)).to(weight.dtype)
            directions = None if normals is None else normals.to(weight)
            evaluation = self.config["evaluation"]
            logits = []
            for vote in range(evaluation["votes"]):
                greedy = evaluation["evaluation"] == "greedy"
                sampling = SamplingContext.greedy() if greedy else SamplingContext.seeded(vote)
                logits.append(self(seen, directions, sampling=sampling)[0])
            return torch.stack(logits).mean(0).softmax(0)
        finally:
            self.train(training)


class TrainedSegmenter(PointSegmenter):
    """A :class:`geosft.nn.PointSegmenter` of a RUN: `class_names`, the text `parts` of its part list, and its
    configuration `config` by section."""

    class_names: list[str]
    parts: str
    config: dict[str, Any]


def _options(config: dict[str, Any], file) -> dict[str, Any]:
    """The arguments of a model, from the section [model]."""
    model, clouds = config["model"], config["clouds"]
    for key, only in (("attention", "sampling"), ("score", "maxout"), ("probability", "leaky_relu")):
        if model[key] != only:
            raise ValueError(f"{file}: {key} {model[key]!r} exists in C++ only: geosft.load reads models with {only!r}")
    sampler = {key: model[key] for key in ("tau", "weighting", "hard", "with_replacement", "noise")}
    return dict(
        dim=model["dim"], num_heads=model["num_heads"], num_samples=model["num_samples"], depth=model["depth"],
        normals=clouds["normals"], tokens=model["tokens"], canonical_order=model["canonical_order"],
        norm_first=model["norm"] == "pre", mlp_ratio=model["mlp_ratio"], score_dropout=model["score_dropout"],
        dropout=model["token_dropout"], mlp_dropout=model["feed_forward_dropout"], **sampler)


def load(run: str | pathlib.Path) -> TrainedClassifier | TrainedSegmenter:
    """Loads the best model of a RUN folder of geosft-classify or geosft-segment (or a checkpoint file), in evaluation
    mode. Raises a ValueError that names the file if it holds another kind of model or is damaged."""
    path = pathlib.Path(run)
    file = path / "best.ckpt" if path.is_dir() else path
    if not file.is_file():
        raise FileNotFoundError(f"{run}: expected a RUN folder with best.ckpt, or a checkpoint")
    tensors, texts = load_checkpoint(file)
    kind = texts.get("kind")
    if kind not in ("geosft-classify", "geosft-segment"):
        raise ValueError(f"{file}: expected a checkpoint of geosft-classify or geosft-segment, found one of {kind}")
    config, names = tomllib.loads(texts["config"]), texts["classes"].splitlines()
    try:
        options, model = _options(config, file), config["model"]
        if kind == "geosft-classify":
            sampler = {key: model[key] for key in ("tau", "weighting", "hard", "with_replacement", "noise")}
            loaded = TrainedClassifier(len(names), **options, head_samples=model["head_num_samples"],
                                       head_dropout=model["head_dropout"], head_sampler=sampler)
        else:
            parts = texts["parts"]
            loaded = TrainedSegmenter(len(parts.splitlines()), len(names) if model["category"] else 0, **options)
            loaded.parts = parts
    except KeyError as error:
        raise ValueError(f"{file}: its configuration has no key {error}: the version of geosft that wrote it is another one") from None
    loaded.load_state_dict({name[6:]: tensor for name, tensor in tensors.items() if name.startswith("model.")})
    loaded.class_names, loaded.config = names, config
    return loaded.eval()
