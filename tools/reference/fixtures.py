#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the golden cases in tests/fixtures, each one from nothing but the files of this folder.

usage: fixtures.py --out DIR [NAME ...]        write DIR/NAME.pt; without names, all of them
       fixtures.py --check DIR [NAME ...]      make them anew and compare byte by byte with the files in DIR
       fixtures.py --differences [NAME ...]    compare their gradients with central differences

To change or add a case: inputs.py says what goes in, families.py what comes out, formulas/ how it is computed; then run
`tools/reference/fixtures.py --out tests/fixtures`. Python's standard library is enough; all of them take half a minute.

No code of the library is used, nor PyTorch: formulas/ has the definitions in plain loops over numbers of 80 decimal
digits (formulas/autograd.py), and differentiates them. A result is rounded to float64 when it is stored, and pt_file.py
writes the container. So the bytes depend neither on the processor nor on a library, nor on the version of Python (3.10
or later). --digits 120 gives the same bytes, except for numbers whose true value is in the middle between two float64
numbers (there is one, in primal_layer_scaled_head_mean_bn).
"""

import argparse
import pathlib
import sys
import time

if sys.version_info < (3, 10):
    print("left out: Python 3.10 or later is needed")
    sys.exit(77)
sys.dont_write_bytecode = True

import central_differences
import families
import inputs
import molecules
import pt_file
from formulas import autograd

# A smaller number is stored as 0. It is the rounding of a 0, such as the gradient of a bias that softmax cancels, or no
# test can tell it from 0.
NEGLIGIBLE = autograd.Decimal("1e-30")

# Layers and models: numbers whose order decides a branch differ by this much, so that float32 takes the same branch.
MIN_MARGINS = {"rank": "2e-4", "relu": "2e-5", "maximum": "5e-6"}

GRADIENT_TOLERANCE = autograd.Decimal("1e-18")


def all_names():
    return sorted([*inputs.CASES, "molecule_features"])


def stored(tensor):
    if tensor.whole:
        return pt_file.Stored("int64", tensor.shape, tensor.elements)
    numbers = [autograd.value(x) for x in tensor.elements]
    return pt_file.Stored("float64", tensor.shape, [0.0 if abs(x) < NEGLIGIBLE else float(x) for x in numbers])


def check_margins(name):
    for kind, minimum in MIN_MARGINS.items():
        smallest = autograd.margins[kind].smallest
        if name.startswith(("layer_", "model_")) and smallest < autograd.Decimal(minimum):
            raise ValueError(f"{name}: {kind} compares numbers that differ by {smallest:.1e}: choose another seed")


def made(name):
    """The content of the file NAME.pt."""
    if name == "molecule_features":
        return pt_file.to_bytes(molecules.fixture())
    given = inputs.CASES[name]()
    autograd.reset_margins()
    table = {**given, **families.family(name)(given)}
    check_margins(name)
    return pt_file.to_bytes({key: stored(tensor) for key, tensor in table.items()})


def differences(expected, actual):
    """What differs in two files, in words."""
    old, new = (pt_file.from_bytes(data) for data in (expected, actual))
    words = [f"no {key}" for key in old if key not in new] + [f"a new {key}" for key in new if key not in old]
    words += [f"another {key}" for key in old if key in new and old[key] != new[key]]
    return ", ".join(words) or "the container alone"


def check(folder, names):
    wrong = [f"{path.name}: not made here" for path in sorted(folder.glob("*.pt")) if path.stem not in all_names()]
    for name in names:
        path = folder / f"{name}.pt"
        if not path.exists():
            wrong.append(f"{path.name}: missing")
        elif (expected := path.read_bytes()) != (actual := made(name)):
            wrong.append(f"{path.name}: {differences(expected, actual)}")
    for line in wrong:
        print(line)
    print(f"{len(names)} fixtures compared, {len(wrong)} differ")
    return 1 if wrong else 0


def check_gradients(names):
    wrong = 0
    for name in names:
        for error in central_differences.errors(name):
            wrong += error > GRADIENT_TOLERANCE
            print(f"{name}: {error:.1e}")
    print(f"{wrong} gradients differ from central differences by more than {GRADIENT_TOLERANCE}")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--check", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--differences", action="store_true")
    parser.add_argument("--digits", type=int, default=autograd.DIGITS, help="decimal digits of everything computed")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    if (options.out is not None) + (options.check is not None) + options.differences != 1:
        parser.error("one of --out, --check and --differences")
    if unknown := set(options.names) - set(all_names()):
        parser.error(f"no fixture is called {', '.join(sorted(unknown))}")
    autograd.set_precision(options.digits)
    if options.differences:
        return check_gradients(options.names or sorted(inputs.CASES))
    if options.check:
        return check(options.check, options.names or all_names())
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.names or all_names():
        begin = time.perf_counter()
        (options.out / f"{name}.pt").write_bytes(made(name))
        print(f"{name}.pt  {time.perf_counter() - begin:.2f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
