# SPDX-License-Identifier: Apache-2.0
"""Times modules of geosft.nn eagerly and compiled by torch.compile, on one thread: compile_times.py [--rounds N] [--backend NAME]

Prints, for each module and for forward alone and with backward, the eager and the compiled time in ms and their ratio.
Times are those of the processor, so that waiting on a busy machine does not count. Rounds alternate between both; the figure of
each is the minimum over the rounds.
"""

import argparse
import time

import torch
from geosft import nn


def layer():
    """A transformer layer over 8 clouds of 1024 points with 64 channels."""
    x, points = torch.randn(8, 1024, 64), torch.rand(8, 1024, 3)
    module = nn.TransformerLayer(64, num_heads=4, num_samples=32, relative="points", relative_channels=1)
    return module, (x, nn.PointEncoding(points))


def classifier():
    """A classifier of the size of `furniture` over 8 clouds of 256 points with normals."""
    points = torch.rand(8, 256, 3) - 0.5
    module = nn.PointClassifier(17, dim=64, num_heads=4, num_samples=32, depth=3, tokens="local", norm_first=True, head_samples=128)
    return module, (points, torch.nn.functional.normalize(points, dim=-1))


def forward(module, given):
    with torch.no_grad():
        module(*given)


def both(module, given):
    module(*given).square().mean().backward()


def milliseconds(call, *arguments):
    begin = time.process_time()
    call(*arguments)
    return 1e3 * (time.process_time() - begin)


def main():
    parser = argparse.ArgumentParser(description="Times modules eagerly and compiled.")
    parser.add_argument("--rounds", type=int, default=20, help="of which the minimum is taken (default: 20)")
    parser.add_argument("--backend", default="inductor", help="of torch.compile (default: inductor)")
    given = parser.parse_args()
    rounds, backend = given.rounds, given.backend
    torch.set_num_threads(1)
    torch.manual_seed(1)
    print(f"PyTorch {torch.__version__}, one thread, {backend}, minimum of {rounds} rounds, ms of the processor")
    for make in (layer, classifier):
        module, given = make()
        module.eval()  # the same samples in each call
        for call, what in ((forward, "forward"), (both, "forward and backward")):
            compiled = torch.compile(module, fullgraph=True, backend=backend)
            call(compiled, given)  # compiles
            times = [(milliseconds(call, module, given), milliseconds(call, compiled, given)) for _ in range(rounds)]
            eager, fast = (min(one) for one in zip(*times))
            print(f"{make.__name__}, {what}: eager {eager:.1f}, compiled {fast:.1f}, ratio {eager / fast:.2f}")


if __name__ == "__main__":
    main()
