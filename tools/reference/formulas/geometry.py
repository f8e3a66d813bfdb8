# SPDX-License-Identifier: Apache-2.0
"""Farthest point sampling and nearest neighbours, by exhaustion."""

from formulas.autograd import Decimal, dot, value
from formulas.packed import items

INFINITY = Decimal("Infinity")


def squared_distance(a, b):
    difference = [x - y for x, y in zip(a, b)]
    return dot(difference, difference)


def farthest_point_sampling(points, m, start, ptr=None):
    """Rows of min(m, n) points of each item: row `start` of the item, then whichever is farthest from those chosen, the
    lowest row where several are."""
    chosen = []
    for rows in items(ptr, len(points)):
        distance = {i: INFINITY for i in rows}  # from the nearest point chosen, for those that are left
        following = rows[start] if rows else None
        for _ in range(min(m, len(rows))):
            chosen.append(following)
            del distance[following]
            distance = {i: min(d, squared_distance(points[i], points[following])) for i, d in distance.items()}
            following = min(distance, key=lambda i: (-distance[i], i), default=None)
    return chosen


def knn(points, queries, k, ptr=None, query_ptr=None):
    """The k nearest points of the query's item by squared distance, then row: lists [Q][k] of rows and squared
    distances, filled up with -1 and infinity."""
    index, dist2 = [], []
    for rows, own in zip(items(ptr, len(points)), items(query_ptr, len(queries)), strict=True):
        for i in own:
            near = sorted(
                ((squared_distance(queries[i], points[j]), j) for j in rows), key=lambda pair: (value(pair[0]), pair[1])
            )[:k]
            missing = k - len(near)
            index.append([j for _, j in near] + [-1] * missing)
            dist2.append([d for d, _ in near] + [INFINITY] * missing)
    return index, dist2
