# SPDX-License-Identifier: Apache-2.0
"""Trained models of graphs and of parts in Python: 7_serve_graphs_from_python.py LIB GRAPH_RUN DATASET PART_RUN FILE CLASS,
with the folder of libgeosft_graph_tool.so and libgeosft_segment.so."""
import copy
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch

library, graph_run, dataset, part_run, file, category = sys.argv[1:]
for name in "graph_tool", "segment":
    torch.classes.load_library(str(Path(library) / f"libgeosft_{name}.so"))

run = torch.classes.geosft.GraphPredictor(graph_run)
predictions = run.predict_data(dataset)
for number, best in enumerate(predictions.argmax(1).tolist()):
    print(f"graph {number}: {run.output_names()[best]}")
# The first graph once more, from its edges: 0 - 1 - 2, of nodes of the categories 0, 1, 0.
edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
path = run.predict(torch.tensor([0, 3]), edges, node_categories=torch.tensor([[0], [1], [0]]))
torch.testing.assert_close(path[0], predictions[0])
with ThreadPoolExecutor(8) as threads:  # that share the model
    together = list(threads.map(lambda _: run.predict_data(dataset), range(16)))
assert all(torch.equal(one, predictions) for one in together), "threads disagree"
assert torch.equal(pickle.loads(pickle.dumps(run)).predict_data(dataset), predictions), "a copy disagrees"
try:
    run.predict(torch.tensor([0, 2]), edges, node_categories=torch.tensor([[0], [1]]))
except RuntimeError as error:
    assert "edges" in str(error), error
else:
    sys.exit("an edge to a node that is not there was accepted")

parts = torch.classes.geosft.Segmenter(part_run)
points, labels = parts.predict_file(file, category)
print({name: int((labels == part).sum()) for part, name in enumerate(parts.part_names())})
probabilities = parts.predict(points, None, category)
assert probabilities.shape == (len(points), len(parts.part_names())), probabilities.shape
assert torch.equal(copy.deepcopy(parts).predict(points, None, category), probabilities), "a copy disagrees"
