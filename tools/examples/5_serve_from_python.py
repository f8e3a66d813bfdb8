# SPDX-License-Identifier: Apache-2.0
"""A trained model in Python: 5_serve_from_python.py LIBGEOSFT_CLASSIFY RUN FILE… prints the class of each file."""
import copy
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import torch

torch.classes.load_library(sys.argv[1])
run = torch.classes.geosft.Classifier(sys.argv[2])
alone = [run.predict_file(file, 1) for file in sys.argv[3:]]
for file, [(name, probability)] in zip(sys.argv[3:], alone):
    print(f"{file}: {name} ({probability:.3f})")
cloud = torch.randn(200, 3, generator=torch.Generator().manual_seed(1))
probabilities = run.predict(cloud, torch.nn.functional.normalize(cloud))
assert probabilities.shape == (len(run.class_names()),) and abs(probabilities.sum() - 1) < 1e-5, probabilities
with ThreadPoolExecutor(8) as threads:  # that share the model
    together = threads.map(lambda _: [run.predict_file(file, 1) for file in sys.argv[3:]], range(16))
assert all(one == alone for one in together), "threads disagree"
for other in copy.deepcopy(run), pickle.loads(pickle.dumps(run)):  # neither needs the RUN folder
    assert torch.equal(other.predict(cloud, torch.nn.functional.normalize(cloud)), probabilities), "a copy disagrees"
try:
    run.predict(cloud[:, :2], None)
except RuntimeError as error:
    assert "points" in str(error), error
else:
    sys.exit("a cloud in the plane was accepted")
