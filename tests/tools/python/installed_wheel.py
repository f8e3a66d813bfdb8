# SPDX-License-Identifier: Apache-2.0
"""A wheel that was installed into an environment with PyTorch and nothing else: its operators, gradients, layers under
torch.compile, readers of files and pretrained models work. Run by tools/python/wheel.sh."""

import pathlib
import re
import sys
import tempfile

import geosft
import torch
from geosft import nn

assert pathlib.Path(geosft.__file__).is_relative_to(sys.prefix), geosft.__file__
torch.manual_seed(1)

score, x = torch.randn(9, dtype=torch.double, requires_grad=True), torch.randn(9, 3, dtype=torch.double, requires_grad=True)


def sampled(score, x):
    top, partner, weight, _ = geosft.sample_pairs(score, 3, torch.tensor([0, 4, 9]), seeds=torch.arange(2), noise=True)
    return geosft.gather_pairs(x, top, partner, weight)


assert torch.autograd.gradcheck(sampled, (score, x))
model = nn.PointClassifier(3, dim=16, num_heads=2, num_samples=8, depth=1, normals=False).eval()
clouds = torch.rand(2, 30, 3)
compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
torch.testing.assert_close(compiled(clouds), model(clouds), rtol=1e-4, atol=1e-4)

with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder) / "cloud.xyz"
    file.write_text("0 0 0\n1 0 0\n0 1 0\n")
    points, normals = geosft.read_cloud(file)
    assert points.shape == (3, 3) and normals is None
    for name in geosft.pretrained_names():
        pretrained = geosft.from_pretrained(name)
        if hasattr(pretrained, "class_names") and not hasattr(pretrained, "part_names"):
            assert torch.isclose(pretrained.predict(torch.rand(50, 3)).sum(), torch.tensor(1.0), atol=1e-5)

# Of geosft nothing is loaded from outside of the environment.
mapped = set(re.findall(r"(/\S+\.so[.0-9]*)$", pathlib.Path("/proc/self/maps").read_text(), re.MULTILINE))
foreign = [one for one in sorted(mapped) if "/geosft" in one and not one.startswith(str(pathlib.Path(sys.prefix).resolve()))]
assert not foreign, foreign
print(f"geosft {geosft.__version__} works with PyTorch {torch.__version__}; pretrained: {geosft.pretrained_names()}")
