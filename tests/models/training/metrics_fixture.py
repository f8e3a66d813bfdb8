#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/fixtures/metrics.json: predictions and what scikit-learn says of them. Usage: metrics_fixture.py FILE"""
import json
import sys
import warnings

import numpy as np
import sklearn.metrics as m

warnings.simplefilter("ignore")
rng = np.random.default_rng(7)


def plain(array):
    """Lists of numbers; NaN is null."""
    return [plain(row) if np.ndim(row) else (None if row != row else row) for row in np.asarray(array).tolist()]


def classes():
    cases = []
    for count, kinds, seen in [(200, 3, 3), (50, 7, 4), (30, 2, 2), (1, 3, 1), (40, 5, 1)]:
        truth = rng.integers(0, seen, count)
        predicted = np.where(rng.random(count) < 0.6, truth, rng.integers(0, kinds, count))
        cases.append({"predicted": plain(predicted), "truth": plain(truth),
                      "accuracy": m.accuracy_score(truth, predicted),
                      "macro_f1": m.f1_score(truth, predicted, average="macro")})
    return cases


def one_label():
    cases = []
    for count, digits in [(300, 15), (300, 1), (60, 0), (2, 15), (80, 2)]:
        labels = rng.random(count) < 0.3
        labels[:2] = [True, False]
        scores = np.round(rng.normal(size=count) + labels, digits)
        cases.append({"scores": plain(scores), "labels": plain(labels.astype(int)),
                      "roc_auc": m.roc_auc_score(labels, scores),
                      "average_precision": m.average_precision_score(labels, scores)})
    constant = {"scores": [0.5] * 6, "labels": [1, 0, 0, 1, 0, 0]}
    constant["roc_auc"] = m.roc_auc_score(constant["labels"], constant["scores"])
    constant["average_precision"] = m.average_precision_score(constant["labels"], constant["scores"])
    return cases + [constant]


def several_labels():
    """As the evaluator of OGB: labels without both kinds are left out, and so are missing entries."""
    count, width = 120, 6
    labels = (rng.random((count, width)) < 0.25).astype(float)
    scores = np.round(rng.normal(size=(count, width)) + labels, 2)
    labels[rng.random((count, width)) < 0.2] = np.nan
    labels[:, 4] = np.where(np.isnan(labels[:, 4]), np.nan, 0.0)
    labels[:, 5] = np.nan
    columns = []
    for j in range(width):
        there = ~np.isnan(labels[:, j])
        if 0 < np.nansum(labels[:, j]) < there.sum():
            columns.append((labels[there, j], scores[there, j]))
    return {"scores": plain(scores), "labels": plain(labels),
            "roc_auc": float(np.mean([m.roc_auc_score(*c) for c in columns])),
            "average_precision": float(np.mean([m.average_precision_score(*c) for c in columns]))}


def against_the_rest():
    cases = []
    for count, kinds in [(150, 4), (60, 2)]:
        truth = rng.integers(0, kinds, count)
        scores = np.round(rng.random((count, kinds)) + np.eye(kinds)[truth], 2)
        scores /= scores.sum(1, keepdims=True)
        auc = (m.roc_auc_score(truth, scores[:, 1]) if kinds == 2
               else m.roc_auc_score(truth, scores, multi_class="ovr", average="macro"))
        cases.append({"scores": plain(scores), "truth": plain(truth), "roc_auc": auc})
    return cases


def regression():
    cases = []
    for count, width in [(100, 1), (80, 4), (2, 3)]:
        truth = rng.normal(size=(count, width)) * 10.0 ** rng.integers(-3, 4, width)
        predicted = truth + 0.5 * rng.normal(size=(count, width)) * np.abs(truth).mean(0)
        cases.append({"predicted": plain(predicted), "truth": plain(truth),
                      "mae": m.mean_absolute_error(truth, predicted), "r2": m.r2_score(truth, predicted)})
    truth = np.stack([np.full(5, 2.0), np.full(5, 3.0), np.arange(5.0)], 1)
    predicted = np.stack([np.full(5, 2.0), np.arange(5.0), np.arange(5.0) + 0.25], 1)
    cases.append({"predicted": plain(predicted), "truth": plain(truth),
                  "mae": m.mean_absolute_error(truth, predicted), "r2": m.r2_score(truth, predicted)})
    return cases


with open(sys.argv[1], "w") as out:
    json.dump({"classes": classes(), "one_label": one_label(), "several_labels": [several_labels()],
               "against_the_rest": against_the_rest(), "regression": regression()}, out, separators=(",", ":"))
    out.write("\n")
