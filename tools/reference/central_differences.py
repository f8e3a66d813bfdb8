# SPDX-License-Identifier: Apache-2.0
"""Compares the gradients of a fixture with central differences, in one random direction of all its inputs at once."""

import families
import inputs
from formulas.autograd import Decimal, Tensor, dot, value

STEP = Decimal("1e-12")  # the error of the difference is about 1e-24, its rounding 1e-28

# Not derivatives: at ties, straight through a choice, or scaled on purpose.
LEFT_OUT = {
    "maxout_ties",
    "sample_pairs_ties",
    "sample_pairs_all_equal",
    "sampler_hard_straight_through",
    "sampler_with_replacement",
    "knn_grid_ties",
    "knn_duplicates",
}


def objective(given, table, suffix):
    """The number whose gradients are grad.*<suffix>; None if there is none."""
    if "loss" + suffix in table:
        return value(table["loss" + suffix].item())
    grad_output = {
        name.removeprefix("grad_") + suffix: tensor for name, tensor in given.items() if name.startswith("grad_out")
    }
    if not grad_output or not grad_output.keys() <= table.keys():
        return None
    return sum(
        value(x) * g
        for name, tensor in grad_output.items()
        for x, g in zip(table[name].elements, tensor.elements)
        if value(x).is_finite()
    )


def errors(name):
    """The relative errors of the derivative in the direction, one for each kind of gradients in the fixture."""
    if name in LEFT_OUT:
        return
    given, compute = inputs.CASES[name](), families.family(name)
    source = inputs.Source("direction of " + name)
    direction = {
        key: source.normal(*tensor.shape) for key, tensor in given.items() if families.differentiable(key, tensor)
    }

    def moved(step):
        return compute(
            {
                key: (
                    Tensor(tensor.shape, [x + step * d for x, d in zip(tensor.elements, direction[key].elements)])
                    if key in direction
                    else tensor
                )
                for key, tensor in given.items()
            }
        )

    here = compute(given)
    if not any(key.startswith("grad.") for key in here):
        return
    ahead, behind = moved(STEP), moved(-STEP)
    for suffix in ("", "_exact", "_approx"):
        if objective(given, here, suffix) is None:
            continue
        expected = (objective(given, ahead, suffix) - objective(given, behind, suffix)) / (2 * STEP)
        gradients = [here[f"grad.{key}{suffix}"] for key in direction]
        found = sum(dot(tensor.elements, d.elements) for tensor, d in zip(gradients, direction.values()))
        yield abs(found - expected) / max(abs(expected), Decimal(1))
