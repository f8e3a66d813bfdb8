# SPDX-License-Identifier: Apache-2.0
"""PointNet (Qi et al., CVPR 2017) for classification and part segmentation, with the settings of the paper's appendix C:
Adam with rate 0.001, halved in steps, dropout 0.3, batches of 32, jitter of deviation 0.01 (clipped at 0.05), and the
penalty 0.001 on the feature transform."""

import torch
from torch import nn


def shared(*widths):
    """A perceptron that all points share: [B, widths[0], P] -> [B, widths[-1], P]."""
    layers = []
    for inputs, width in zip(widths, widths[1:]):
        layers += [nn.Conv1d(inputs, width, 1), nn.BatchNorm1d(width), nn.ReLU()]
    return nn.Sequential(*layers)


def dense(*widths):
    layers = []
    for inputs, width in zip(widths, widths[1:]):
        layers += [nn.Linear(inputs, width), nn.BatchNorm1d(width), nn.ReLU()]
    return nn.Sequential(*layers)


class Transform(nn.Module):
    """T-Net: a matrix [B, k, k] for the features [B, k, P], the identity at first."""

    def __init__(self, k):
        super().__init__()
        self.k, self.points, self.cloud, self.last = k, shared(k, 64, 128, 1024), dense(1024, 512, 256), nn.Linear(256, k * k)
        nn.init.zeros_(self.last.weight)
        nn.init.zeros_(self.last.bias)

    def forward(self, x):
        return self.last(self.cloud(self.points(x).amax(2))).view(-1, self.k, self.k) + torch.eye(self.k)


class PointNet(nn.Module):
    """Logits [B, classes] of clouds [B, P, 3]."""

    def __init__(self, classes):
        super().__init__()
        self.pose, self.first = Transform(3), shared(3, 64, 64)
        self.mix, self.second = Transform(64), shared(64, 64, 128, 1024)
        self.head = nn.Sequential(dense(1024, 512, 256), nn.Dropout(0.3), nn.Linear(256, classes))

    def forward(self, clouds):
        x = clouds.transpose(1, 2)
        x = self.first(self.pose(x) @ x)
        self.matrix = self.mix(x)
        return self.head(self.second(self.matrix @ x).amax(2))


class PointNetParts(nn.Module):
    """Logits [B, P, parts] of clouds [B, P, 3] of known classes [B] (figure 9 of the paper)."""

    def __init__(self, classes, parts):
        super().__init__()
        self.classes, self.pose, self.first = classes, Transform(3), nn.ModuleList([shared(3, 64), shared(64, 128), shared(128, 128)])
        self.mix, self.second = Transform(128), nn.ModuleList([shared(128, 512), shared(512, 2048)])
        self.head = nn.Sequential(shared(64 + 128 + 128 + 512 + 2048 + 2048 + classes, 256, 256), nn.Dropout(0.2),
                                  shared(256, 128), nn.Conv1d(128, parts, 1))

    def forward(self, clouds, category):
        x = clouds.transpose(1, 2)
        x, seen = self.pose(x) @ x, []
        for layer in self.first:
            x = layer(x)
            seen.append(x)
        self.matrix = self.mix(x)
        x = self.matrix @ x
        for layer in self.second:
            x = layer(x)
            seen.append(x)
        shape = torch.cat([x.amax(2), nn.functional.one_hot(category, self.classes).to(x.dtype)], 1)
        return self.head(torch.cat([*seen, shape[..., None].expand(-1, -1, x.shape[2])], 1)).transpose(1, 2)


def penalty(model):
    """The paper's regularisation of the feature transform A: 0.001 |I - A A^T|^2."""
    matrix = model.matrix
    return 0.001 * (torch.eye(matrix.shape[1]) - matrix @ matrix.transpose(1, 2)).square().sum((1, 2)).mean()


def jitter(clouds, generator):
    return clouds + (0.01 * torch.randn(clouds.shape, generator=generator)).clamp(-0.05, 0.05)


def optimizer(model):
    return torch.optim.Adam(model.parameters(), lr=1e-3)


def schedule(done):
    """Halves the rate every tenth of the time, as the paper does every 20 of its 200 epochs."""
    return 0.5 ** int(10 * done)
