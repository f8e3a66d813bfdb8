# SPDX-License-Identifier: Apache-2.0
"""DGCNN (Wang et al., ACM TOG 2019) for classification, with the settings of the paper's section 5.1: 20 neighbours, SGD
with rate 0.1, momentum 0.9 and weight decay 0.0001 along a cosine to 0.001, label smoothing 0.2, dropout 0.5, batches of
32, clouds scaled by 2/3 to 3/2 along each axis and shifted by up to 0.2."""

import torch
from torch import nn

NEIGHBOURS = 20


def edge_features(x, k):
    """The features (x_j - x_i, x_i) [B, 2 C, P, k] of the k nearest neighbours j, in feature space, of each point i."""
    square = x.square().sum(1)
    distance = square[:, :, None] - 2 * x.transpose(1, 2) @ x + square[:, None, :]
    index = distance.topk(min(k, x.shape[2]), dim=2, largest=False).indices
    near = x.unsqueeze(2).expand(-1, -1, x.shape[2], -1).gather(3, index.unsqueeze(1).expand(-1, x.shape[1], -1, -1))
    own = x.unsqueeze(3).expand_as(near)
    return torch.cat([near - own, own], 1)


class EdgeConv(nn.Module):
    def __init__(self, inputs, width):
        super().__init__()
        self.edges = nn.Sequential(nn.Conv2d(2 * inputs, width, 1, bias=False), nn.BatchNorm2d(width), nn.LeakyReLU(0.2))

    def forward(self, x):
        return self.edges(edge_features(x, NEIGHBOURS)).amax(3)


class DGCNN(nn.Module):
    """Logits [B, classes] of clouds [B, P, 3]."""

    def __init__(self, classes):
        super().__init__()
        widths = (3, 64, 64, 128, 256)
        self.layers = nn.ModuleList(EdgeConv(*pair) for pair in zip(widths, widths[1:]))
        self.all = nn.Sequential(nn.Conv1d(512, 1024, 1, bias=False), nn.BatchNorm1d(1024), nn.LeakyReLU(0.2))
        self.head = nn.Sequential(
            nn.Linear(2048, 512, bias=False), nn.BatchNorm1d(512), nn.LeakyReLU(0.2), nn.Dropout(0.5),
            nn.Linear(512, 256), nn.BatchNorm1d(256), nn.LeakyReLU(0.2), nn.Dropout(0.5), nn.Linear(256, classes))

    def forward(self, clouds):
        x, seen = clouds.transpose(1, 2), []
        for layer in self.layers:
            x = layer(x)
            seen.append(x)
        x = self.all(torch.cat(seen, 1))
        return self.head(torch.cat([x.amax(2), x.mean(2)], 1))


def scale_and_shift(clouds, generator):
    factor = torch.empty(len(clouds), 1, 3).uniform_(2 / 3, 3 / 2, generator=generator)
    shift = torch.empty(len(clouds), 1, 3).uniform_(-0.2, 0.2, generator=generator)
    return clouds * factor + shift


def optimizer(model):
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
