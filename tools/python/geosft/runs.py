# SPDX-License-Identifier: Apache-2.0
"""Trained models: loads the RUN folders of the command-line tools, applies their models, and writes RUN folders."""

from __future__ import annotations

import json
import math
import pathlib
import re
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from ._kernel_ridge import KernelRidge
from .checkpoints import as_existing_path, as_path, load_checkpoint, load_safetensors, output_path, save_checkpoint, save_safetensors, write_atomically
from ._tensors import check_integers, kind_of, stack_level
from .nn import FeaturedGraphs, GraphModel, PointClassifier, PointSegmenter, PrimalAttention, PolynomialAttention, SamplingContext
from .nn.checks import NUMBERS, check_sizes, tensor_of
from .nn.packed import segment_of
from .nn.relative import SMALLEST_SQUARED_DISTANCE

if TYPE_CHECKING:
    import numpy

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_HERE = pathlib.Path(__file__).resolve().parent
_ZOO = (_HERE / "zoo", _HERE.parents[1] / "zoo")  # in an installed package; in the sources
_CLASSIFY, _SEGMENT, _GRAPH = "geosft-classify", "geosft-segment", "geosft-graph"
_MASK_SIZE = 16  # of masks other than strided, where the configuration leaves it open
_ATOM_CATEGORIES = 9  # of an atom, in OGB's coding of molecules
_ELEMENT_CATEGORIES = 119  # of an atom of an XYZ file: its element
_LOCALS = {"gatedgcn": "gated_gcn"}  # a name of the tools that Python has another one for
_SAMPLER_KEYS = ("tau", "weighting", "hard", "with_replacement")


def read_cloud(
    file: str | pathlib.Path, points_per_mesh: int = 4096, seed: int = 0, *, columns: str = "", drop_invalid: bool = False
) -> tuple[Tensor, Tensor | None]:
    """The points [n, 3] of a file of any format that the tools read (OFF, OBJ, PLY, STL, glTF, XYZ, PCD, LAS, NumPy, …),
    and its normals [n, 3] or None.

    Args:
        file: whose ending says the format.
        points_per_mesh: points that are sampled from the surface of a mesh, with `seed`.
        columns: of tables of text, such as "x,y,z,r,g,b"; empty: they are found by header and values.
        drop_invalid: leave out points without finite coordinates, which are an error otherwise.

    Points are float64 where float32 does not hold the coordinates. Raises a FileNotFoundError for one
    that is not there, and a RuntimeError that names a broken one; warns of what a file lacks.
    """
    points, normals, _ = _read_shape(file, points_per_mesh, seed, columns, drop_invalid)
    return points, normals


def _read_shape(
    file: str | pathlib.Path, points_per_mesh: int, seed: int, columns: str, drop_invalid: bool
) -> tuple[Tensor, Tensor | None, bool]:
    """As :func:`read_cloud`, and whether the points are sampled from a mesh."""
    path = as_existing_path(file, "file")
    check_integers(points_per_mesh=points_per_mesh, seed=seed)
    if not isinstance(columns, str):
        raise TypeError(f"columns must be a text, such as 'x,y,z,nx,ny,nz', got {kind_of(columns)}")
    _load_readers()
    try:
        points, normals, said, from_mesh = torch.ops.geosft._read_cloud(str(path), points_per_mesh, seed, columns, drop_invalid)
    except RuntimeError as error:
        raise RuntimeError(str(error).replace("--columns", "columns")) from None
    for sentence in said:
        if not sentence.endswith(" points are sampled"):
            warnings.warn(sentence.replace("--columns", "columns"), stacklevel=stack_level())
    return points, normals, from_mesh


def read_graphs(
    source: str | pathlib.Path | Sequence[str], schema: Mapping[str, Any], labels: Mapping[str, Any] | None = None, *,
    directed: bool = False, coalesce: bool = True, smiles_column: str = "", chiral_tags: str = "canonical", fingerprint: str = "none",
    fingerprint_bits: int = 2048, descriptors: bool = False, statistics: bool = False
) -> tuple[FeaturedGraphs, list[str]]:
    """The graphs of a file that geosft-graph predicts, with the features of its model's training data, and their names: a
    table of SMILES, molecules with coordinates, edge lists, Matrix Market, packed graphs, or a folder in TU's form.

    Args:
        source: a path; or a list of SMILES.
        schema, labels: of the training data, as in a checkpoint.
        directed, coalesce, smiles_column, chiral_tags: as the options of geosft-graph. Models of tables have "canonical" chiral tags, those
            of OGB's sets and of earlier versions "written" ones: `read` of a trained model takes its own.
        fingerprint, fingerprint_bits, descriptors, statistics: features of whole graphs, as the options of geosft-graph.

    Raises a FileNotFoundError for a path where nothing is, a ValueError for a schema that lacks a key, and a RuntimeError that names a
    broken file, or one with other features; warns of what is left out.
    """
    _load_readers()
    labels = labels or {"nodes": [], "edges": []}
    if not isinstance(schema, Mapping):
        raise TypeError(f"schema must be a mapping, as in a checkpoint, got {type(schema).__name__}")
    if missing := [key for key in ("node_vocabulary", "edge_vocabulary", "node_values", "edge_values", "coordinates") if key not in schema]:
        raise ValueError(f"schema must have {', '.join(missing)}, as in the `schema` of a trained model")
    smiles = list(source) if isinstance(source, Sequence) and not isinstance(source, str) else []
    if smiles and not all(isinstance(one, str) for one in smiles) or not smiles and not isinstance(source, (str, pathlib.Path)):
        raise TypeError(f"source must be a path or a list of at least one SMILES, got {type(source).__name__}")
    for name, text in (("smiles_column", smiles_column), ("chiral_tags", chiral_tags), ("fingerprint", fingerprint)):
        if not isinstance(text, str):
            raise TypeError(f"{name} must be a text, got {type(text).__name__}")
    numbers = [schema["node_values"], schema["edge_values"], int(schema["coordinates"]), schema.get("graph_features", 0)]
    tensors, names, said = torch.ops.geosft._read_graphs(
        "source" if smiles else str(as_existing_path(source, "source")), smiles, schema["node_vocabulary"], schema["edge_vocabulary"], numbers, labels["nodes"],
        labels["edges"], directed, coalesce, smiles_column, chiral_tags, fingerprint, fingerprint_bits, descriptors, statistics)
    for sentence in said:
        warnings.warn(sentence, stacklevel=2)
    ptr, rowptr, col, *given = tensors
    rows = [None if one.dim() == 1 and one.numel() == 0 else one for one in given]
    node_categories, node_values, edge_categories, edge_values, coordinates, weight, features, _ = rows
    return FeaturedGraphs(ptr, rowptr, col, node_categories, node_values, edge_categories, edge_values, coordinates, None, weight,
                          features), names


def read_sequences(
    source: str | pathlib.Path, schema: Mapping[str, Any], *, patch_size: int = 1, max_length: int = 0
) -> FeaturedGraphs:
    """The sequences of a file of series that geosft-sequence predicts (*.ts, *.arff, or *.tsv in the form of UCR, whose
    classes are ignored), or all those of a dataset's folder: series, texts, pairs of documents or images. They are graphs
    without edges whose nodes are the steps, with node_values [N, columns] (float32) or node_categories [N, columns].

    Args:
        source: a path.
        schema: of the training data, as in a checkpoint.
        patch_size: steps of a series, or side of a square of pixels, that become one node.
        max_length: steps that are kept, from the beginning; 0: all.

    Raises a FileNotFoundError for a path where nothing is, a RuntimeError that names a broken file, and a ValueError for
    sequences of other features than those of `schema`; warns of what is read otherwise than it stands there.
    """
    path = as_existing_path(source, "source")
    if not isinstance(schema, Mapping):
        raise TypeError(f"schema must be a mapping, as in a checkpoint, got {type(schema).__name__}")
    for name, minimum, value in (("patch_size", 1, patch_size), ("max_length", 0, max_length)):
        if not isinstance(value, int):
            raise TypeError(f"{name} must be an integer, got {type(value).__name__}")
        check_sizes(minimum, **{name: value})
    _load_readers()
    (ptr, *rows), numbers, said = torch.ops.geosft._read_sequences(str(path), patch_size, max_length)
    for sentence in said:
        warnings.warn(sentence, stacklevel=2)
    values, documents, height, width, *vocabulary = numbers
    found = {"node_values": values, "documents": bool(documents), "grid_height": height, "grid_width": width, "node_vocabulary": vocabulary}
    other = {key: value for key, value in found.items() if schema.get(key, value) != value}
    if other:
        wanted = ", ".join(f"{key} {schema[key]}" for key in other)
        raise ValueError(f"source {path}: expected sequences of {wanted}, as in training, "
                         f"got {', '.join(f'{key} {value}' for key, value in other.items())} with patch_size {patch_size}")
    categories, values = (None if one.dim() == 1 else one for one in rows)
    steps = int(ptr[-1])
    return FeaturedGraphs(ptr, torch.zeros(steps + 1, dtype=torch.int64), torch.empty(0, dtype=torch.int64), categories, values)


def _items(graphs: FeaturedGraphs, begin: int, end: int) -> FeaturedGraphs:
    """The items begin … end - 1 of sequences, which have no edges."""
    first, last = int(graphs.ptr[begin]), int(graphs.ptr[end])
    categories, values = (None if one is None else one[first:last] for one in (graphs.node_categories, graphs.node_values))
    return FeaturedGraphs(graphs.ptr[begin:end + 1] - first, graphs.rowptr[first:last + 1], graphs.col, categories, values)


def _load_readers() -> None:
    library = _HERE / "libgeosft_data.so"
    if hasattr(torch.ops.geosft, "_read_cloud"):
        return
    if not library.exists():
        raise ImportError("this build of geosft cannot read files of shapes: it has no libgeosft_data.so")
    torch.ops.load_library(str(library))


class TrainedRun(nn.Module):
    """What models of a RUN share: `config`, its configuration by section, the texts of its checkpoint, and `kernel`, the kernel regression
    whose predictions are averaged with theirs, or None."""

    config: dict[str, Any]
    texts: dict[str, str]
    kernel: KernelRidge | None = None  # of molecules or clouds, whose predictions are averaged with those of all models
    _said_normals = False  # that they are estimated, which is said once per model

    def _directions(self, points: Tensor, normals: Tensor | None) -> Tensor | None:
        """The normals that the model takes, estimated where they are missing; None for a model without."""
        if not self.normals:
            return None
        alone = self._knows_estimated_normals_alone
        found, estimated = _with_normals(points, None if alone else normals, self.config["clouds"])
        if estimated > 0 and not self._said_normals:
            self._said_normals = True
            what = "the model was trained on estimated normals alone: normals are estimated" if alone and normals is not None else \
                    "normals are missing: they are estimated" if estimated == len(points) else f"normals of {estimated} of {len(points)} points are missing or not finite: they are estimated"
            warnings.warn(f"{what} (said once per model)", stacklevel=stack_level())
        return found

    @property
    def _knows_estimated_normals_alone(self) -> bool:
        return self.config.get("augment", {}).get("estimated_normals", 0.0) >= 1.0

    def _warn_of_normals(self, points: Tensor, normals: Tensor | None, from_mesh: bool) -> None:
        """Warns, as the tool does, of given normals that do not fit the points or point inward, where the model takes them. Points that
        are sampled from a mesh have the normals of its faces, which are not checked for a misfit."""
        if normals is None or not self.normals or self._knows_estimated_normals_alone:
            return
        for text in torch.ops.geosft._normal_warnings(_centred(points), _present_normals(normals), not from_mesh):
            _warn(text)

    def save(self, folder: str | pathlib.Path) -> None:
        """Writes a RUN folder with the present weights: the command-line tools, and :func:`geosft.load`, read it. Overwrites a
        RUN that `save` wrote. Refuses the folder of a training, whose results belong to other weights, and one that holds anything else. A kernel regression (`kernel`, None without one) is written, too: it is of
        the data that the RUN was trained on, so set it to None after a training on others. Raises a ValueError for modules that are
        not those of the configuration."""
        path = as_path(folder, "folder")
        if path.exists() and any(path.iterdir()) and not (path / "config.toml").exists():
            raise ValueError(f"{path} is not empty and holds no run: name another folder")
        if found := [name for name in ("last.ckpt", "metrics.csv", "result.json") if (path / name).exists()]:
            raise ValueError(f"{path} holds the run of a training, with {found[0]}, which is of other weights: name another folder")
        _require_configured(self)
        path.mkdir(parents=True, exist_ok=True)
        tensors = {f"model.{name}": tensor for name, tensor in self.state_dict().items()}
        texts = self._present_texts()
        if self.kernel is None:
            texts = {**texts, "config": re.sub(r"(?m)^kernel_ridge = true\b", "kernel_ridge = false", texts["config"])}
        write_atomically(path / "config.toml", texts["config"].encode())
        write_atomically(path / "classes.txt", self.texts["classes"].encode())
        write_atomically(path / "version", self.texts["version"].encode())
        save_checkpoint(path / "best.ckpt", tensors, texts)
        if self.kernel is not None:
            self.kernel.save(path)
        else:
            (path / "kernel.ckpt").unlink(missing_ok=True)  # of the run that this one replaces

    def _present_texts(self) -> dict[str, str]:
        """Returns the texts of the checkpoint without those that name an epoch."""
        return {name: text for name, text in self.texts.items() if name not in ("epoch", "chosen_by", "chosen_score")}

    def save_safetensors(self, file: str | pathlib.Path) -> None:
        """Writes the weights, and the texts of the RUN as metadata, as a file of safetensors, which
        :func:`geosft.load` reads too. Raises a ValueError for another ending than .safetensors, for an ensemble, and for a model with a
        kernel regression, of which :meth:`save` keeps all; and a FileNotFoundError where the folder is missing."""
        path = output_path(file, "file", ".safetensors")
        if getattr(self, "more_models", ()) or self.kernel is not None:
            raise ValueError("the model is an ensemble, or has a kernel regression: save() keeps all of it, and model.kernel = None with "
                             "model.more_models = () leaves one network")
        save_safetensors(path, {f"model.{name}": tensor for name, tensor in self.state_dict().items()}, self._present_texts())

    def _votes(self):
        """The random numbers of each vote of an evaluation."""
        evaluation = self.config["evaluation"]
        for vote in range(evaluation["votes"]):
            yield vote, self._sampling(vote)

    def _sampling(self, vote: int) -> SamplingContext:
        return SamplingContext.greedy() if self.config["evaluation"]["evaluation"] == "greedy" else SamplingContext.seeded(vote)


def _require_configured(model: TrainedRun) -> None:
    """Checks that the parameters and buffers of a model are those of its configuration, which a file of it is loaded by."""
    with torch.random.fork_rng(devices=[]):  # a model draws its weights
        configured = _LOADERS[model.texts["kind"]](model.config, model.texts, "the model")
    expected = {name: tensor.shape for name, tensor in configured.state_dict().items()}
    found = {name: tensor.shape for name, tensor in model.state_dict().items()}
    for name in sorted(expected.keys() | found.keys()):
        if expected.get(name) != found.get(name):
            shapes = [list(shape) if shape is not None else "nothing" for shape in (expected.get(name), found.get(name))]
            raise ValueError(f"the model must be that of its configuration: {name} has {shapes[1]} where that has {shapes[0]} (set_classes() "
                             "changes the classes)")


def _subset(rows: int, count: int, seed: int) -> Tensor | None:
    """`count` random rows, ascending; None where there are not more."""
    if rows <= count:
        return None
    return torch.randperm(rows, generator=torch.Generator().manual_seed(seed))[:count].sort().values


def _spread_blocks(count: int, size: int, vote: int) -> list[Tensor]:
    """The rows of as few blocks of at most `size` points (0: all) as possible, of nearly equal size, at random (tools/experiment/blocks.h)."""
    blocks = 1 if size == 0 else max(1, -(-count // size))
    if blocks == 1:
        return [torch.arange(count)]
    order = torch.randperm(count, generator=torch.Generator().manual_seed(_combined_seeds(vote, count)))
    return [order[count * i // blocks:count * (i + 1) // blocks].sort().values for i in range(blocks)]


def _combined_seeds(*values: int) -> int:
    """As combine_seeds of data/seeds.h."""
    state, bits = 0, (1 << 64) - 1
    for value in values:
        state = ((state ^ value) + 0x9E3779B97F4A7C15) & bits
        state = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & bits
        state = ((state ^ state >> 27) * 0x94D049BB133111EB) & bits
        state ^= state >> 31
    return state


def _seen(points: Tensor, clouds: dict[str, Any], vote: int) -> Tensor | None:
    """The rows of a cloud that the model sees, by the section [clouds]; None: all."""
    if clouds.get("point_sampling", "random") == "random" or len(points) <= clouds["points"]:
        return _subset(len(points), clouds["points"], vote)
    exact = points.detach().to("cpu", torch.float64)
    start = int((exact - exact.mean(0)).square().sum(1).argmax())
    return torch.ops.geosft.farthest_point_sampling(exact, clouds["points"], None, start)


def _taken(rows: Tensor | None, *tensors: Tensor | None) -> list[Tensor | None]:
    return [one if one is None or rows is None else one.index_select(0, rows.to(one.device)) for one in tensors]


_MAX_OFFSET = 1e18  # of a coordinate from that of the first point, whose square float32 holds


def _checked_cloud(points: Any, normals: Any) -> tuple[Tensor, Tensor | None]:
    """The tensors of a cloud, given as tensors or arrays."""
    points, normals = tensor_of(points, "points"), tensor_of(normals, "normals")
    for name, tensor in (("points", points), ("normals", normals)):
        if not isinstance(tensor, Tensor) and (name == "points" or tensor is not None):
            raise TypeError(f"{name} must be a tensor, or a NumPy array of float32 or float64, got {type(tensor).__name__}")
        if tensor is not None and (tensor.layout != torch.strided or tensor.is_quantized or tensor.is_complex() or tensor.is_meta):
            raise ValueError(f"{name} must be dense real numbers, got {tensor.dtype}, {tensor.layout}, on {tensor.device}")
    if points.dim() != 2 or points.shape[0] == 0 or points.shape[1] != 3:
        raise ValueError(f"points must have shape [n, 3] with n >= 1, got {list(points.shape)}")
    bad = int((~points.isfinite()).any(1).sum())
    if bad > 0:
        raise ValueError(f"points must be finite, got {bad} of {len(points)} that are not: points[points.isfinite().all(1)] has the others")
    if normals is not None and normals.shape != points.shape:
        raise ValueError(f"normals must have the shape of points, {list(points.shape)}, got {list(normals.shape)}")
    offset = float((points.detach().double() - points[0].detach().double()).abs().max())
    if offset > _MAX_OFFSET:
        raise ValueError(f"points must have coordinates within {_MAX_OFFSET:.0e} of those of the first point, got {offset:.1e}: use another unit")
    return points, normals


def _centred(points: Tensor) -> Tensor:
    """float64 relative to a point of the cloud, which float32 holds."""
    wide = points.detach().to("cpu", torch.float64)
    return (wide - wide[0]).float()


def _present_normals(normals: Tensor) -> Tensor:
    """Given normals as float32 of unit length, on the CPU; those that are not finite become zero, which is missing."""
    normals = normals.detach().to("cpu", torch.float32)
    return torch.ops.geosft._unit_normals(torch.where(normals.isfinite().all(1, keepdim=True), normals, 0.0))


def _with_normals(points: Tensor, normals: Tensor | None, clouds: dict) -> tuple[Tensor, int]:
    """The normals [n, 3], estimated as the settings of clouds say where they are missing: None, zeros, or not finite; and how
    many were."""
    if normals is not None:
        normals = _present_normals(normals)
        missing = (normals == 0).all(1, keepdim=True)
        if not missing.any():
            return normals, 0
        if missing.all():
            normals = None
    # A RUN of an earlier version does not have the key.
    outward = normals is None and clouds.get("normal_orientation", "consistent") == "outward"
    estimated = torch.ops.geosft._estimate_normals(_centred(points), outward=outward)
    if normals is None:
        return estimated, len(points)
    turned = estimated * torch.where((estimated * normals).sum() < 0, -1.0, 1.0)
    return torch.where(missing, turned, normals), int(missing.sum())


def _normalized(points: Tensor) -> Tensor:
    """The cloud centred and scaled to the unit ball, float64 on the CPU."""
    offset = points.detach().to("cpu", torch.float64)
    offset = offset - offset[0]
    offset = offset - offset.mean(0)
    radius = offset.norm(dim=1).max()
    return offset / torch.where(radius > 0, radius, 1)


def _model_input(points: Tensor, normals: Tensor | None, model: PointClassifier | PointSegmenter) -> tuple[Tensor, Tensor | None]:
    """The normalised cloud as input of the model: unless its tokens are absolute, in a pose of its own
    (geometry/canonical_pose.h), so that its rounding, which decides near-ties, is that of any rotated copy."""
    points = _normalized(points)
    if model.canonical_order and model.tokens not in ("absolute", "absolute_local"):
        points, turned = torch.ops.geosft._canonical_pose(points, None if normals is None else normals.detach().cpu())
        normals = None if normals is None else turned
    return points.to(model.embed.weight), None if normals is None else normals.to(model.embed.weight)


_FEW = 16  # a model that sees more than so many times as many points hardly knows a cloud


def _warn(text: str) -> None:
    """A warning about a cloud, in the words of the tool, from the function that calls this one."""
    warnings.warn(f"the cloud: {text}", stacklevel=stack_level())


def _warn_of_points(points: Tensor, seen: int) -> None:
    """Warns, as the tool does, of a cloud whose form a model that sees `seen` points of each shape can hardly know."""
    count, of = len(points), "point" if len(points) == 1 else "points"
    if count * _FEW < seen:
        _warn(f"{count} {of} only, where the model sees {seen} of each shape")
        return
    for text in torch.ops.geosft._point_warnings(points.detach().to("cpu", torch.float64)):
        _warn(text)


class _evaluating:
    """Sets evaluation mode, without gradients, and restores the former mode."""

    def __init__(self, module: nn.Module):
        self.module, self.training, self.no_grad = module, module.training, torch.no_grad()

    def __enter__(self):
        self.module.eval()
        self.no_grad.__enter__()

    def __exit__(self, *error):
        self.module.train(self.training)
        self.no_grad.__exit__(*error)


class TrainedClassifier(PointClassifier, TrainedRun):
    """A :class:`geosft.nn.PointClassifier` of a RUN: `class_names`, and its configuration `config` by section."""

    class_names: list[str]

    def predict(self, points: Tensor | numpy.ndarray, normals: Tensor | numpy.ndarray | None = None) -> Tensor:
        """Probabilities [num_classes] of a cloud, of the model's dtype, as those of the tool: points [n, 3] in any unit, far from the
        origin or not, and normals [n, 3] that point outward, of any length. They are estimated where the model needs them and they are
        missing, zero or not finite; the first time, a warning says so. Both are tensors of any real dtype, or NumPy arrays of float32 or float64. As many points as the model was
        trained with are sampled, other ones where the points come in another order; logits are averaged over the votes of the configuration, and with those of a kernel
        regression if the RUN has one. Warns, as the tool does, of far fewer points, points that are equal, on one line, repeated or
        stray, and of normals that do not fit the points or point inward."""
        return self._predicted(points, normals)

    def _predicted(self, points: Any, normals: Any, from_mesh: bool = False) -> Tensor:
        points, normals = _checked_cloud(points, normals)
        _warn_of_points(points, self.config["clouds"]["points"])
        points, normals = self._thinned(points, normals)
        self._warn_of_normals(points, normals, from_mesh)
        cloud = points, self._directions(points, normals)
        with _evaluating(self):
            logits = [self(*self._seen_by(cloud, vote), sampling=sampling)[0] for vote, sampling in self._votes()]
            found = torch.stack(logits).mean(0)
            if self.kernel is None:
                return found.softmax(0)
            histogram = torch.ops.geosft._pair_histogram(*(one.detach().cpu().double() for one in cloud))
            # Earlier regressions were fitted to the first parts of the histogram alone.
            more = self.kernel.predict(histogram[None, :self.kernel.columns])[0].to(found)
            if self.kernel.average_logits:
                return torch.lerp(found, more, self.kernel.weight).softmax(0)
            return torch.lerp(found.softmax(0), more.softmax(0), self.kernel.weight)

    def prepare(
        self, points: Tensor | numpy.ndarray, normals: Tensor | numpy.ndarray | None = None, *, vote: int = 0
    ) -> tuple[Tensor, Tensor | None]:
        """A cloud as :meth:`predict` gives it to the model in vote `vote`: ``model(*model.prepare(points, normals))``. Takes
        points [n, 3] in any unit, and normals [n, 3] that point outward, which are estimated where the model needs them and they are missing,
        with a warning the first time; tensors of any real dtype, or NumPy arrays of float32 or float64. Returns points [m, 3] and normals
        [m, 3], or None for a model without, with the dtype and device of the model: at most as many points as it was
        trained with, sampled by `vote`, centred, in the unit ball, and in a pose of their own. Raises a ValueError or TypeError that names the argument."""
        check_integers(vote=vote)
        if vote < 0:
            raise ValueError(f"vote must not be negative, got {vote}")
        points, normals = self._thinned(*_checked_cloud(points, normals))
        return self._seen_by((points, self._directions(points, normals)), vote)

    def _thinned(self, points: Tensor, normals: Tensor | None) -> list[Tensor | None]:
        """The points that votes sample, with the given normals of these."""
        clouds = self.config["clouds"]
        return _taken(_subset(len(points), max(clouds["points_per_mesh"], clouds["points"]), self.config["seed"]), points, normals)

    def _seen_by(self, cloud: tuple[Tensor, Tensor | None], vote: int) -> tuple[Tensor, Tensor | None]:
        return _model_input(*_taken(_seen(cloud[0], self.config["clouds"], vote), *cloud), self)

    def predict_file(self, file: str | pathlib.Path) -> Tensor:
        """Probabilities [num_classes] of the shape in `file`, as of the tool's `predict`: see :func:`geosft.read_cloud`, here with the
        `points_per_mesh` and the seed of the RUN, by which meshes are sampled. Points without finite coordinates are left out, with a warning."""
        clouds = self.config["clouds"]
        return self._predicted(*_read_shape(file, clouds["points_per_mesh"], self.config["seed"], clouds["columns"], drop_invalid=True))

    def set_classes(self, names: Sequence[str]) -> None:
        """Takes other classes, `names`, to fine-tune on; raises a ValueError unless they are at least 2 different lines. The linear map of the head is made anew, and a kernel regression, which knows the old classes, is left out; everything else
        remains."""
        if isinstance(names, str) or not isinstance(names, Sequence):
            raise ValueError(f"names must be a sequence of at least 2 names, got {names!r}")
        names = list(names)
        bad = [name for name in names if not isinstance(name, str) or not name or name != name.strip() or "\n" in name]
        if len(names) < 2 or len(set(names)) != len(names) or bad:
            raise ValueError(f"names must be at least 2 different names, one line each without blanks around it, got {names}")
        old = self.head.linear
        self.head.linear = nn.Linear(old.in_features, len(names), device=old.weight.device, dtype=old.weight.dtype)
        self.class_names, self.texts = names, {**self.texts, "classes": "".join(f"{name}\n" for name in names)}
        self.kernel = None  # it knows the old classes


class TrainedSegmenter(PointSegmenter, TrainedRun):
    """A :class:`geosft.nn.PointSegmenter` of a RUN: `class_names`, `part_names` ("Chair/seat") with the class of each
    part, `part_classes`, and its label in the files that were learned, `part_labels`, and its configuration `config` by section."""

    class_names: list[str]
    part_names: list[str]
    part_classes: list[int]
    part_labels: list[int]

    def predict(self, points: Tensor | numpy.ndarray, normals: Tensor | numpy.ndarray | None = None, category: str = "") -> Tensor:
        """Probabilities [n, num_parts] of the points [n, 3] of a cloud of class `category` ("" for a model without class
        input or of one class), with normals [n, 3] that point outward or None, as those of the tool; tensors of any real dtype, or NumPy arrays of float32 or float64. The first
        time that normals are estimated, a warning says so. Of more points than the `block` of the configuration, the model sees as
        many at once, from all over the cloud. Warns, as the tool does, of far fewer points, points that are equal, on one line, repeated or
        stray, and of normals that do not fit the points or point inward."""
        return self._predicted(points, normals, category)

    def _predicted(self, points: Any, normals: Any, category: str, from_mesh: bool = False) -> Tensor:
        points, normals = _checked_cloud(points, normals)
        _warn_of_points(points, self.config["clouds"]["points"])
        self._warn_of_normals(points, normals, from_mesh)
        label = self._category(category)
        cloud = points, self._directions(points, normals)
        with _evaluating(self):
            logits = torch.stack([self._vote(cloud, label, vote) for vote in range(self.config["evaluation"]["votes"])]).mean(0)
            if label >= 0:
                allowed = torch.tensor(self.part_classes, device=logits.device) == label
                logits = logits.masked_fill(~allowed, -1e30)
            return logits.softmax(1)

    def prepare(
        self, points: Tensor | numpy.ndarray, normals: Tensor | numpy.ndarray | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """A cloud as :meth:`predict` gives it to the model: ``model(*model.prepare(points, normals), category=…)``. Takes
        points [n, 3] in any unit, and normals [n, 3] that point outward, which are estimated where the model needs them and they are missing,
        with a warning the first time; tensors of any real dtype, or NumPy arrays of float32 or float64. Returns points [n, 3], centred, in the
        unit ball and in a pose of their own, and normals [n, 3], or None for a model without, with the dtype and device of the model. Raises a ValueError or
        TypeError that names the argument, also for more points than the `block` of the configuration, which `predict` divides."""
        points, normals = _checked_cloud(points, normals)
        block = self.config["clouds"]["block"]
        if 0 < block < len(points):
            raise ValueError(f"points must be at most {block}, the block of the configuration, got {len(points)}: predict() divides them")
        return _model_input(points, self._directions(points, normals), self)

    def _vote(self, cloud: tuple[Tensor, Tensor | None], label: int, vote: int) -> Tensor:
        """Logits of one vote, whose blocks are prepared and seen as those of the tool: as many at once, each batch with the random numbers of the vote."""
        blocks = _spread_blocks(len(cloud[0]), self.config["clouds"]["block"], vote)
        size, logits = self.config["evaluation"]["evaluation_batch"], []
        for first in range(0, len(blocks), size):
            points, normals = zip(*(_model_input(*_taken(rows, *cloud), self) for rows in blocks[first:first + size]))
            ptr = torch.tensor([0, *(len(one) for one in points)]).cumsum(0)
            given = {"category": torch.full((len(points),), label)} if self.num_categories > 0 else {}
            packed = None if normals[0] is None else torch.cat(normals)
            logits.append(self(torch.cat(points), packed, ptr, sampling=self._sampling(vote), **given))
        rows, found = torch.cat(blocks), torch.cat(logits)
        return torch.empty_like(found).index_copy(0, rows.to(found.device), found)

    def predict_file(self, file: str | pathlib.Path, category: str = "") -> tuple[Tensor, Tensor]:
        """The points [n, 3] of a file and the part of each, int64 [n], for a shape of class `category`. Points
        without finite coordinates are left out, with a warning. Raises a RuntimeError that names a broken file, and a ValueError
        that names the argument."""
        points, normals, from_mesh = _read_shape(file, self.config["clouds"]["points_per_mesh"], self.config["seed"], "", drop_invalid=True)
        return points, self._predicted(points, normals, category, from_mesh).argmax(1).cpu()

    def _category(self, name: str) -> int:
        if name in self.class_names:
            return self.class_names.index(name)
        if name == "" and self.num_categories == 0:
            return -1
        if name == "" and len(self.class_names) == 1:
            return 0
        raise ValueError(f"category must be one of {', '.join(self.class_names)}, got {name!r}")


class TrainedGraphModel(GraphModel, TrainedRun):
    """A :class:`geosft.nn.GraphModel` of a RUN: `task` ("classification", "multi_label", "regression",
    "node_classification" or "node_multi_label"), `output_names`, the `schema` of its data, and its configuration
    `config` by section. The gradient in `coordinates` of molecules that were read from XYZ files includes that of the lengths of
    bonds, which are `edge_values`."""

    task: str
    output_names: list[str]
    schema: dict[str, Any]
    more_models: tuple[TrainedGraphModel, ...] = ()  # of an ensemble, whose outputs are averaged with those of this one

    def _apply(self, *args, **kwargs):
        for model in self.more_models:
            model._apply(*args, **kwargs)
        return super()._apply(*args, **kwargs)

    def save(self, folder: str | pathlib.Path) -> None:
        """See :meth:`TrainedRun.save`; an ensemble is written to `folder` with all of its models."""
        super().save(folder)
        for number, model in enumerate(self.more_models, 1):
            model.save(pathlib.Path(folder) / f"model_{number}")

    def _edges(self, graphs: FeaturedGraphs) -> Tensor:
        return super()._edges(self._with_lengths(graphs))

    def _with_lengths(self, graphs: FeaturedGraphs) -> FeaturedGraphs:
        """The graphs of XYZ files with the same edge_values, which are proportional to the lengths of bonds, differentiable in the coordinates."""
        coordinates, schema = graphs.coordinates, self.schema
        of_xyz = (schema["coordinates"] and schema["node_vocabulary"] == [_ELEMENT_CATEGORIES] and schema["node_values"] == 0 and schema["edge_values"] == 1
                  and not schema["edge_vocabulary"])
        if not of_xyz or not isinstance(coordinates, Tensor) or not coordinates.requires_grad:
            return graphs
        row = segment_of(graphs.rowptr, graphs.col.shape[0], graphs.col.device)
        length = (coordinates[graphs.col] - coordinates[row]).square().sum(1, keepdim=True).clamp_min(SMALLEST_SQUARED_DISTANCE).sqrt()
        return graphs._replace(edge_values=graphs.edge_values * (length / length.detach()))

    def encode(self, graphs: FeaturedGraphs) -> FeaturedGraphs:
        """The graphs with the node encoding of the configuration, computed on the CPU."""
        model = self.config["model"]
        if self.encoding == 0 or graphs.node_encoding is not None:
            return graphs
        there = graphs.rowptr.device
        ptr, rowptr, col = (torch.as_tensor(one).cpu() for one in (graphs.ptr, graphs.rowptr, graphs.col))
        weight = None if graphs.weight is None else graphs.weight.cpu()
        walks = model["encoding_walks"] if model["encoding"] == "rwpe" else 0
        values = torch.ops.geosft._encoded_nodes(ptr, rowptr, col, weight, model["encoding"], model["encoding_columns"], walks,
                                                 model["encoding_seed"])
        return graphs._replace(node_encoding=values.to(there))

    def prepare(self, graphs: FeaturedGraphs) -> FeaturedGraphs:
        """Graphs as :meth:`predict` gives them to the model: ``model(model.prepare(graphs))``. Takes a batch of PyTorch Geometric,
        too; the fields of the graphs may be NumPy arrays of int32, int64, float32 or float64. Computes the node encoding and
        `graph_features` of any graphs where they are missing, and leaves out `graph_features` that only the kernel regression uses; the result is on the device of the
        model. Raises a ValueError or TypeError that names the argument or the field."""
        return self._for_head(self._complete(graphs))

    def _complete(self, graphs: FeaturedGraphs) -> FeaturedGraphs:
        """Checked graphs with their node encoding, on the device of the model."""
        if not isinstance(graphs, FeaturedGraphs):
            if isinstance(graphs, tuple) and any(isinstance(one, FeaturedGraphs) for one in graphs):
                raise TypeError("graphs must be FeaturedGraphs, got a tuple: read() and read_graphs() return the graphs and their names")
            if isinstance(graphs, (str, pathlib.Path)):
                raise TypeError(f"graphs must be FeaturedGraphs or a batch of PyTorch Geometric, got {type(graphs).__name__}: predict_file() and "
                                "read() take files")
            if isinstance(graphs, (list, tuple)):
                raise TypeError("graphs must be one batch, torch_geometric.data.Batch.from_data_list(graphs), got a list")
            from .pyg import from_data
            smiles, graphs = getattr(graphs, "smiles", None), from_data(graphs)
            graphs = self._with_chiral_tags(graphs, [smiles] if isinstance(smiles, str) else smiles)
        graphs = FeaturedGraphs(*(tensor_of(value, name, NUMBERS) for name, value in graphs._asdict().items()))
        return self._with_features(self.encode(graphs)).to(self.numbers.weight.device)

    def _with_chiral_tags(self, graphs: FeaturedGraphs, smiles: Sequence[str] | None) -> FeaturedGraphs:
        """The graphs of molecules with the chiral tags that the model was trained with. Checks that the atoms are in OGB's coding: PyTorch
        Geometric's from_smiles has another one. SMILES that cannot be read, such as by a build without RDKit, tell nothing."""
        if not smiles or len(self.schema["node_vocabulary"]) != _ATOM_CATEGORIES:
            return graphs
        tags = self.config.get("molecules", {}).get("chiral_tags", "written")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                read = read_graphs(smiles, self.schema, chiral_tags="written")
                expected = read if tags == "written" else read_graphs(smiles, self.schema)
        except (RuntimeError, ValueError):
            return graphs
        if len(read[1]) != len(smiles):
            return graphs
        given = graphs.node_categories
        if given is None or not any(torch.equal(given.cpu().long(), one.node_categories) for one, _ in (read, expected)):
            raise ValueError("x must be the atoms in OGB's coding, which the model was trained with, but that of their SMILES differs (from_smiles of "
                             "PyTorch Geometric has another coding): give predict_file() or read() the SMILES")
        return graphs._replace(node_categories=expected[0].node_categories.to(given))

    def _with_features(self, graphs: FeaturedGraphs) -> FeaturedGraphs:
        """The graphs with the features of whole graphs of the configuration, where they are missing and can be computed: those of
        molecules need SMILES (:meth:`read`)."""
        molecules = _features(self.config)
        names = _fingerprints(molecules)
        of_molecules = molecules.get("descriptors", False) or not all(name.startswith("wl") for name in names)
        given = graphs.graph_features
        # Prepared graphs have those of the head alone: the regression needs the others, too.
        for_head = self.kernel is not None and not _head_fingerprints(self.config) and given is not None and list(given.shape[1:]) == [self.graph_features]
        if given is not None and not for_head or of_molecules or not (names or molecules.get("statistics", False)):
            return graphs
        _load_readers()
        there = graphs.rowptr.device
        structure = (torch.as_tensor(one).cpu() for one in (graphs.ptr, graphs.rowptr, graphs.col))
        nodes, values, edges = (None if one is None else torch.as_tensor(one).cpu()
                                for one in (graphs.node_categories, graphs.node_values, graphs.edge_categories))
        nodes, edges = (one.long() if one is not None and one.dtype == torch.int32 else one for one in (nodes, edges))
        values = values.float() if values is not None and values.is_floating_point() else values
        schema = (self.schema[name] for name in ("node_vocabulary", "edge_vocabulary", "node_values"))
        try:
            found = torch.ops.geosft._graph_vectors(*structure, nodes, values, edges, *schema, ",".join(names),
                                                    molecules["fingerprint_bits"], molecules["statistics"])
        except RuntimeError as error:
            raise ValueError(str(error)) from None
        return graphs._replace(graph_features=found.to(there))

    def _for_head(self, graphs: FeaturedGraphs) -> FeaturedGraphs:
        """The graphs without features that only the regression uses."""
        if not _head_features(self.config):
            return graphs._replace(graph_features=None)
        features = graphs.graph_features
        if features is None or _head_fingerprints(self.config):
            return graphs
        columns = self.graph_features + _count_columns({"molecules": _features(self.config)})
        if features.dim() != 2 or features.shape[1] not in (columns, self.graph_features):
            raise ValueError(f"graph_features must be [{len(graphs.ptr) - 1}, {columns}], got {list(features.shape)}")
        return graphs._replace(graph_features=features[:, :self.graph_features])

    def predict(self, graphs: FeaturedGraphs) -> Tensor:
        """Predictions [B, outputs] of graphs, or [N, outputs] of their nodes, as those of the tool: probabilities of
        classes or labels, or targets in the unit of the data; averaged over the votes of the configuration. The node
        encoding is computed where it is missing, and so are `graph_features` other than those of molecules. Takes what :meth:`prepare` takes, a batch of PyTorch Geometric, too
        (:func:`geosft.pyg.from_data`)."""
        graphs = self._complete(graphs)
        seen = self._for_head(graphs)
        outputs = torch.stack([model._outputs(seen) for model in (self, *self.more_models)]).mean(0)
        with torch.no_grad():
            if self.task == "regression":
                found = outputs.double() * self.target_deviation + self.target_mean
            else:
                found = outputs.sigmoid() if self.task in ("multi_label", "node_multi_label") else outputs.softmax(1)
            if self.kernel is None:
                return found
            features, expected = graphs.graph_features, [len(found), self.kernel.columns]
            if features is None or list(features.shape) != expected:
                raise ValueError(f"graph_features must be {expected}, got {None if features is None else list(features.shape)}")
            more = self.kernel.predict(features).to(found)
            if self.task == "regression":
                return torch.lerp(found, more, self.kernel.weight)
            if self.kernel.average_logits:
                mean = torch.lerp(outputs, more, self.kernel.weight)
                return mean.softmax(1) if self.task == "classification" else mean.sigmoid()
            return torch.lerp(found, more.sigmoid(), self.kernel.weight)

    def _outputs(self, graphs: FeaturedGraphs) -> Tensor:
        """Logits or standardised targets, averaged over the votes."""
        with _evaluating(self):
            return torch.stack([self(graphs, sampling=sampling) for _, sampling in self._votes()]).mean(0)

    def read(self, source: str | pathlib.Path | Sequence[str]) -> tuple[FeaturedGraphs, list[str]]:
        """The graphs of `source`, a file or a list of SMILES, with the features that the model was trained with, and their names
        ("" where a file has none): see :func:`geosft.read_graphs`; of a model of sequences, those of a file of series or
        of a dataset: see :func:`geosft.read_sequences`."""
        if self.schema.get("items", "graphs") != "graphs":
            graphs = read_sequences(source, self.schema, patch_size=self.config.get("patch_size", 1), max_length=self.config.get("max_length", 0))
            return graphs, [""] * (len(graphs.ptr) - 1)
        molecules = {"chiral_tags": "written"} | _features(self.config)
        given = {key: molecules[key] for key in ("smiles_column", "chiral_tags", "fingerprint", "fingerprint_bits", "descriptors", "statistics") if key in molecules}
        labels = json.loads(self.texts["labels"]) if "labels" in self.texts else None
        return read_graphs(source, self.schema, labels, directed=self.config.get("directed", False),
                           coalesce=self.config.get("coalesce", True), **given)

    def predict_file(self, source: str | pathlib.Path | Sequence[str]) -> Tensor:
        """Predictions [B, outputs] of the graphs of `source`, a file or a list of SMILES, as of `geosft-graph predict`; of a model
        of sequences, those of a file of series or of a dataset, in batches of the configuration's size, as of
        `geosft-sequence predict`. See :meth:`predict` and :meth:`read`."""
        graphs = self.read(source)[0]
        if self.schema.get("items", "graphs") == "graphs":
            self._warn_of_elements(graphs)
            return self.predict(graphs)
        items, size = len(graphs.ptr) - 1, self._batch_size()
        batches = [self.predict(_items(graphs, begin, min(begin + size, items))) for begin in range(0, items, size)]
        return torch.cat(batches) if batches else self.predict(graphs)

    def _warn_of_elements(self, graphs: FeaturedGraphs) -> None:
        """Warns of elements that the training data lack, whose constants the fit leaves exactly 0."""
        if not self.atom_references or not self.schema["coordinates"]:
            return
        present = graphs.node_categories[:, 0].long().unique().cpu()
        unseen = present[(self.target_reference.cpu()[present] == 0).all(1)]
        if len(unseen) > 0:
            numbers = ", ".join(str(one + 1) for one in unseen.tolist())
            warnings.warn(f"the training data have no atom of the atomic number {numbers}: predictions for molecules with such atoms are unreliable",
                          stacklevel=stack_level())

    def _batch_size(self) -> int:
        return max(1, self.config["train"]["batch_size"])


def _sampler(model: dict[str, Any]) -> dict[str, Any]:
    """The options of a :class:`geosft.nn.Sampler`, from the section [model], where samples with replacement always have noise, whatever `noise` says."""
    return {**{key: model[key] for key in _SAMPLER_KEYS}, "noise": model["noise"] or model["with_replacement"]}


def _attention(config: dict[str, Any], schema: Mapping[str, Any], file) -> dict[str, Any]:
    """The arguments of the layers that are about attention, from the section [model]."""
    model, name = config["model"], config["model"]["attention"]
    if name == "sampling":
        return {"score": model["score"], "probability": model["probability"], "score_dropout": model["score_dropout"], **_sampler(model)}
    dim, heads = model["dim"], model["num_heads"]
    if name == "none":
        return {"attention": "none"}
    if name == "polynomial":
        return {"attention": lambda: PolynomialAttention(
            dim, heads, model["degree"], center=model["center"], tolerance=model["tolerance"], max_monomials=model["max_monomials"],
            or_exact=model["or_exact"], causal=model.get("causal", False), score_scale=model.get("score_scale", "inverse_sqrt"))}
    options = PrimalAttention.options_of(name, heads)
    if "beta" in options:
        options |= {"beta": model["beta"], "learn_beta": model["learn_beta"], "share_beta": model["share_beta"]}
    if "pool" in options:
        options |= {"pool": [int(factor) for factor in model["pool"]] or options["pool"], "pooling": model["pooling"]}
    if "mask" in options:
        size = model["mask_size"]
        options |= {"mask": model["mask"], "mask_size": size if size > 0 or model["mask"] == "strided" else _MASK_SIZE}
    if "convolution" in options and model["convolution_size"] > 0:
        options["convolution_size"] = model["convolution_size"]
    if options.get("convolution") == "grid":
        options["grid"] = (schema["grid_height"], schema["grid_width"])
        options["class_token"] = model["head"] == "class_token"
    return {"attention": lambda: PrimalAttention(dim, heads, **options)}


def _encoder(config: dict[str, Any], schema: Mapping[str, Any], file) -> dict[str, Any]:
    """The arguments of the encoder of a model, from the section [model]."""
    model = config["model"]
    return dict(
        dim=model["dim"], num_heads=model["num_heads"], num_samples=model["num_samples"], depth=model["depth"],
        norm_first=model["norm"] == "pre", mlp_ratio=model["mlp_ratio"], dropout=model["token_dropout"],
        mlp_dropout=model["feed_forward_dropout"], normalization=model.get("normalization", "layer"), residual=model.get("residual", True),
        **_attention(config, schema, file))


def _head(model: dict[str, Any]) -> dict[str, Any]:
    return dict(head_samples=model["head_num_samples"], head_dropout=model["head_dropout"], head_sampler=_sampler(model))


def _clouds(config: dict[str, Any], file) -> dict[str, Any]:
    """The arguments of a model of point clouds."""
    return dict(_encoder(config, {}, file), normals=config["clouds"]["normals"], tokens=config["model"]["tokens"],
                relative=config["model"].get("relative", "paper"), chirality=config["model"].get("chirality", False),
                canonical_order=config["model"]["canonical_order"])


def _as_trained(config: dict[str, Any]) -> dict[str, Any]:
    """The section [model] of a classifier, whose head samples no more tokens than training had if it says so."""
    model, drop, points = config["model"], config["augment"].get("drop_token_rate", 0.0), config["clouds"]["points"]
    if not model.get("head_as_trained", False) or drop == 0 or model["with_replacement"]:
        return model
    kept = points - math.floor(drop * points * (1 + 1e-12))  # geometry/augment.h
    return model | {"head_num_samples": min(model["head_num_samples"], max(1, kept // 2))}


def _load_classifier(config, texts, file) -> TrainedClassifier:
    names = texts["classes"].splitlines()
    loaded = TrainedClassifier(len(names), **_clouds(config, file), **_head(_as_trained(config)))
    loaded.class_names = names
    return loaded


def _load_segmenter(config, texts, file) -> TrainedSegmenter:
    names, parts = texts["classes"].splitlines(), [line.split() for line in texts["parts"].splitlines()]  # ID CLASS PART
    loaded = TrainedSegmenter(len(parts), len(names) if config["model"]["category"] else 0, **_clouds(config, file))
    loaded.class_names, loaded.part_names = names, [f"{line[1]}/{line[2]}" for line in parts]
    loaded.part_classes = [names.index(line[1]) for line in parts]
    loaded.part_labels = [int(label) for label in texts["part_labels"].splitlines()] if "part_labels" in texts else list(range(len(parts)))
    return loaded


def _count_columns(config: dict[str, Any]) -> int:
    """The columns of fingerprints, the last among the features of a graph (data/graphs/graph_vectors.h)."""
    molecules = config.get("molecules", {})
    return len(_fingerprints(molecules)) * molecules.get("fingerprint_bits", 2048)


def _features(config: dict[str, Any]) -> dict[str, Any]:
    """The section [molecules], without features of whole graphs that neither the head nor a regression sees."""
    molecules = config.get("molecules", {})
    if molecules.get("kernel_ridge", False):
        return molecules
    if not _head_features(config):
        return molecules | {"fingerprint": "none", "descriptors": False, "statistics": False}
    return molecules if _head_fingerprints(config) else molecules | {"fingerprint": "none"}


def _fingerprints(molecules: Mapping[str, Any]) -> list[str]:
    """The names of the fingerprints, from the section [molecules]."""
    names = (name.strip() for name in molecules.get("fingerprint", "none").split(","))
    return [name for name in names if name not in ("", "none")]


def _head_features(config: dict[str, Any]) -> bool:
    """Whether the head sees the features of whole graphs; files of earlier versions do not say so, and theirs do."""
    return config.get("molecules", {}).get("head_features", True)


def _head_fingerprints(config: dict[str, Any]) -> bool:
    """Whether the head that sees features sees the fingerprints among them; files of earlier versions do not say so, and theirs do."""
    return config.get("molecules", {}).get("head_fingerprints", True)


def _head_counts(config: dict[str, Any]) -> int:
    """The columns of fingerprints that the head sees."""
    return _count_columns(config) if _head_fingerprints(config) else 0


def _load_graph_model(config, texts, file) -> TrainedGraphModel:
    model, schema = config["model"], json.loads(texts["schema"])
    documents, vocabulary = schema.get("documents", False), schema["node_vocabulary"]
    of_nodes = schema["task"].startswith("node_")
    sees = model["attention"] == "sampling" or "sparse" in model["attention"] and model["mask"] in ("nearest", "neighbours")
    relative = model["relative"] and sees
    encoding, local = model["encoding"], model.get("local", "none")
    features = schema.get("graph_features", 0) if _head_features(config) else 0
    invariant = encoding == "lappe" and model.get("encoding_signs", "random") == "invariant"
    loaded = TrainedGraphModel(
        len(schema["output_names"]), **_encoder(config, schema, file), **_head(model),
        node_vocabulary=vocabulary[:-1] if documents else vocabulary, node_values=schema["node_values"],
        edge_vocabulary=schema["edge_vocabulary"], edge_values=schema["edge_values"],
        encoding=0 if encoding == "none" else model["encoding_columns"], signed_encoding=encoding == "lappe" and not invariant, sign_invariant=invariant,
        encoding_channels=0 if encoding == "none" else model.get("encoding_channels", 0), encoding_layers=model.get("encoding_layers", 1),
        max_degree=model.get("max_degree", 0), local=_LOCALS.get(local, local),
        jumping_knowledge=model.get("jumping_knowledge", "none"), virtual_node=model.get("virtual_node", False),
        head_layers=model.get("head_layers", 1), graph_features=features, graph_counts=_head_counts(config) if features > 0 else 0,
        positions=model["positions"], position_channels=model["position_channels"],
        places=schema.get("grid_height", 0) * schema.get("grid_width", 0), documents=documents, relative=relative,
        distance_channels=model["distance_channels"] if relative else 0, distance_range=model["distance_range"],
        angles=model.get("angles", False) and relative and model["distance_channels"] > 0 and model["attention"] == "sampling"
        and model["positions"] != "relative",
        edge_cutoff=0.0 if local == "none" else model.get("edge_cutoff", 0.0), radial_channels=model.get("radial_channels", 32),
        atom_references=model.get("atom_references", False),
        head="pairs" if documents else "nodes" if of_nodes else model["head"])
    loaded.task, loaded.output_names, loaded.schema = schema["task"], schema["output_names"], schema
    return loaded


_LOADERS = {_CLASSIFY: _load_classifier, _SEGMENT: _load_segmenter, _GRAPH: _load_graph_model}


def _load_network(run: str | pathlib.Path, path: pathlib.Path) -> TrainedClassifier | TrainedSegmenter | TrainedGraphModel:
    """Loads one network: the best one of the folder `path`, or that of a file. `run` is what the caller gave, for messages."""
    file = path / "best.ckpt" if path.is_dir() else path
    if not file.is_file():
        inner = sorted(path.glob("*/best.ckpt")) if path.is_dir() else []
        if inner:
            raise FileNotFoundError(f"{run}: expected one RUN folder, found a folder of {len(inner)}: load one of them, such as {inner[0].parent}")
        raise FileNotFoundError(f"{run}: expected a RUN folder with best.ckpt, a checkpoint or a file of safetensors (from_pretrained takes the name "
                                "of a pretrained model)")
    tensors, texts = load_safetensors(file) if file.suffix == ".safetensors" else load_checkpoint(file)
    kind = texts.get("kind")
    if kind not in _LOADERS:
        raise ValueError(f"{file}: expected a checkpoint of {', '.join(_LOADERS)}, found one of {kind}")
    try:
        config = tomllib.loads(texts["config"])
        loaded = _LOADERS[kind](config, texts, file)
    except KeyError as error:
        raise ValueError(f"{file}: it has no {error}: the version of geosft that wrote it is another one") from None
    try:
        loaded.load_state_dict({name[6:]: tensor for name, tensor in tensors.items() if name.startswith("model.")})
    except RuntimeError as error:
        raise ValueError(f"{file}: its weights are not those of its configuration: {error}") from None
    loaded.config, loaded.texts = config, texts
    return loaded.eval()


def _left_out(path: pathlib.Path, loaded: TrainedClassifier | TrainedSegmenter | TrainedGraphModel) -> str:
    """Says what a RUN has beside the one network that was loaded from `path`, a part of it; empty for a whole RUN."""
    folder = path if path.is_dir() else path.parent
    if folder.name.startswith("model_") and (folder.parent / "config.toml").is_file():
        return f"one network of an ensemble: load {folder.parent} for the predictions of all"
    if path.is_dir() or not (folder / "config.toml").is_file():
        return ""
    more = loaded.config.get("ensemble", 1) - 1
    others = [] if more == 0 else ["other network" if more == 1 else f"{more} other networks"]
    try:
        kernel = KernelRidge.of_run(folder, loaded.texts["kind"])
        others += [kernel.name] if kernel is not None else []
    except ValueError:  # damaged: a network alone does not need it
        others.append("kernel ridge regression")
    return f"one network, without the {' and '.join(others)} of its run: load {folder} for the predictions of all" if others else ""


def _had_kernel(path: pathlib.Path, kind: str, config: dict[str, Any]) -> bool:
    """Whether the RUN in `path` was finished with a kernel.ckpt. Clouds have one where the configuration says so; graphs need not."""
    if kind == _CLASSIFY:
        return bool(config["clouds"].get("kernel_ridge") and config["clouds"]["normals"])
    try:
        others = json.loads((path / "result.json").read_text())["checkpoint"].get("averaged_with", "")
        return "regression" in others or "forest" in others
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def load(run: str | pathlib.Path) -> TrainedClassifier | TrainedSegmenter | TrainedGraphModel:
    """Loads the best model of `run`, a RUN folder of geosft-classify, geosft-segment, geosft-graph or geosft-sequence (or a
    checkpoint, or a file of safetensors that ``save_safetensors`` wrote), in evaluation mode. Raises a
    FileNotFoundError if there is no such file, and a ValueError that names the file if it is damaged or of another kind."""
    path = as_path(run, "run")
    loaded = _load_network(run, path)
    kind, config = loaded.texts["kind"], loaded.config
    if left_out := _left_out(path, loaded):
        warnings.warn(f"{run}: {left_out}", stacklevel=2)
        return loaded
    unfinished = path.is_dir() and (path / "last.ckpt").is_file() and not (path / "result.json").is_file()
    if unfinished:
        missing = [number for number in range(1, config.get("ensemble", 1)) if not (path / f"model_{number}/best.ckpt").is_file()]
        if missing:
            raise ValueError(f"{run}: expected an ensemble of {config['ensemble']} models, found {missing[0]}: its training has not ended")
        warnings.warn(f"{run}: its training has not ended, and what it has so far is loaded", stacklevel=2)
    if path.is_dir() and config.get("ensemble", 1) > 1:
        members = [path / f"model_{number}" for number in range(1, config["ensemble"])]
        loaded.more_models = tuple(_load_network(member, member) for member in members)
    if path.is_dir() and kind in (_CLASSIFY, _GRAPH):
        loaded.kernel = KernelRidge.of_run(path, kind)
    if path.is_dir() and not unfinished and loaded.kernel is None and _had_kernel(path, kind, config):
        warnings.warn(f"{run}: kernel.ckpt is missing, which its networks are averaged with: they predict alone", stacklevel=2)
    return loaded


def pretrained_names() -> list[str]:
    """The names that :func:`from_pretrained` takes."""
    folders = [entry for zoo in _ZOO if zoo.is_dir() for entry in zoo.iterdir()]
    return sorted({folder.name for folder in folders if (folder / "best.ckpt").is_file()})


def from_pretrained(name: str) -> TrainedClassifier | TrainedSegmenter | TrainedGraphModel:
    """Loads the trained model `name`, which comes with the package (:func:`pretrained_names`). Raises a ValueError that lists the
    names for an unknown one."""
    if name not in pretrained_names():
        raise ValueError(f"name must be one of {', '.join(pretrained_names()) or '(this build has none)'}, got {name!r}")
    return load(next(zoo / name for zoo in _ZOO if (zoo / name / "best.ckpt").is_file()))
