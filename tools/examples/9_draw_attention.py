# SPDX-License-Identifier: Apache-2.0
"""Draws what a trained classifier attends to on a shape: 9_draw_attention.py RUN FILE PICTURE, a RUN folder of
geosft-classify (or the name of a model that comes with the package), a file of a shape, and the picture to write. Needs
the Python package and matplotlib."""
import pathlib
import sys

import geosft
import matplotlib
import torch

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402 (after the choice of what it draws with)

run, file, picture = sys.argv[1:]
model = geosft.load(run) if pathlib.Path(run).exists() else geosft.from_pretrained(run)
seen = []
hook = model.encoder.register_forward_pre_hook(lambda encoder, given: seen.append(given[1].coordinates))
with geosft.nn.record_attention(model) as layers:
    shares = model.predict_file(file)
hook.remove()
points = seen[0].cpu()  # of the first vote, in the order of the model
query = int(points[:, 2].argmax())

depth, heads = len(model.encoder.layers), layers[0].probabilities.shape[2]
figure, axes = plt.subplots(depth, heads, figsize=(2.6 * heads, 2.6 * depth), subplot_kw={"projection": "3d"}, squeeze=False)
for layer in range(depth):
    probabilities, pairs = layers[layer]
    for head in range(heads):
        share = torch.zeros(len(points))
        # A sampled token is a weighted mean of two points.
        share.index_add_(0, pairs.top, probabilities[query, :, head] * pairs.weight)
        share.index_add_(0, pairs.partner, probabilities[query, :, head] * (1 - pairs.weight))
        axis = axes[layer, head]
        attended = share > 0
        axis.scatter(*points.T.numpy(), c="0.85", s=2)
        axis.scatter(*points[attended].T.numpy(), c=share[attended].numpy(), s=24, cmap="viridis")
        axis.scatter(*points[query].tolist(), c="red", marker="*", s=60)
        axis.set_title(f"layer {layer + 1}, head {head + 1}", fontsize=7)
        axis.set_box_aspect((1, 1, 1))
        axis.set_axis_off()
best = int(shares.argmax())
figure.suptitle(f"{pathlib.Path(file).name}: {model.class_names[best]}, {100 * float(shares[best]):.0f} %; what the starred point attends to")
figure.savefig(picture, dpi=110, bbox_inches="tight")
print(picture)
