# SPDX-License-Identifier: Apache-2.0
"""What a fixture holds besides its inputs: from a dictionary of input Tensors, one of outputs and gradients.

Gradients of the outputs ("grad_out", "grad_out.<output>") are inputs, too. `grad.<input>` is the gradient of
sum(grad_output * output). Every tensor of real numbers among the inputs has one, but for those in WITHOUT_GRADIENT.
"""

from formulas import attention, geometry, layers, polynomial, primal, random_walk, regression, sampling, sinusoids
from formulas.autograd import Decimal, Tensor, Variable, backward, stacked

WITHOUT_GRADIENT = {"eps", "scale", "tau", "noise", "noise_top", "noise_partner", "target"}
RELATIVE_WEIGHTS = ("w_mul", "b_mul", "w_add", "b_add")


def differentiable(name, tensor):
    return not tensor.whole and name not in WITHOUT_GRADIENT and not name.startswith("grad_out")


def with_leaves(inputs):
    """The inputs with a Variable for each number that has a gradient."""
    return {
        name: Tensor(tensor.shape, map(Variable, tensor.elements)) if differentiable(name, tensor) else tensor
        for name, tensor in inputs.items()
    }


def gradients(leaves, outputs, grad_output, suffix=""):
    """grad.* of sum(grad_output * outputs), Tensors."""
    backward(outputs.elements, grad_output.elements)
    return {
        f"grad.{name}{suffix}": Tensor(tensor.shape, [x.gradient for x in tensor.elements])
        for name, tensor in leaves.items()
        if differentiable(name, tensor)
    }


def sampled(leaves, inputs, name, **out):
    """These outputs of a sampler, and the gradients of the output of that name."""
    out = {f"out.{key}": value for key, value in out.items()}
    return {**out, **gradients(leaves, out[f"out.{name}"], inputs[f"grad_out.{name}"])}


def integers(values):
    values = list(values)
    return Tensor((len(values),), values)


def number(inputs, name, otherwise=None):
    return inputs[name].item() if name in inputs else otherwise


def given(inputs, *names):
    """Those of the inputs that are there, as keyword arguments."""
    return {name: inputs[name] for name in names if name in inputs}


def pairs(top, partner, weight, sample_ptr):
    return {"top": integers(top), "partner": integers(partner), "weight": stacked(weight), "sample_ptr": integers(sample_ptr)}


def sample_pairs(inputs):
    leaves = with_leaves(inputs)
    top, partner, weight, sample_ptr = sampling.sample_pairs(
        leaves["score"], number(inputs, "k"), number(inputs, "tau"), inputs.get("ptr")
    )
    return sampled(leaves, inputs, "weight", **pairs(top, partner, weight, sample_ptr))


def sampler(variant):
    def family(inputs):
        leaves = with_leaves(inputs)
        weight, sample = sampling.sample_given_pairs(
            leaves["score"],
            inputs["noise"],
            leaves["x"],
            inputs["top"],
            inputs["partner"],
            number(inputs, "tau"),
            variant,
        )
        return sampled(leaves, inputs, "sample", weight=stacked(weight), sample=stacked(sample))

    return family


def sampler_with_replacement(inputs):
    leaves = with_leaves(inputs)
    top, partner, weight, sample_ptr, sample = sampling.sample_with_replacement(
        leaves["score"],
        inputs["noise_top"],
        inputs["noise_partner"],
        leaves["x"],
        number(inputs, "tau"),
        inputs.get("ptr"),
    )
    return sampled(leaves, inputs, "sample", **pairs(top, partner, weight, sample_ptr), sample=stacked(sample))


def operator(function):
    """A family of an operator with one output, as a function of its inputs."""

    def family(inputs):
        leaves = with_leaves(inputs)
        out = function(leaves)
        return {"out": out, **gradients(leaves, out, inputs["grad_out"])}

    return family


@operator
def softmax_pool(f):
    return stacked(sampling.softmax_pool(f["x"], f["u"], f.get("ptr")))


def attend(f, relative=None):
    return attention.maxout_attention(
        f["q"], f["k"], f["v"], f["leak"], number(f, "eps"), f.get("q_ptr"), f.get("k_ptr"), relative
    )


@operator
def maxout(f):
    return attend(
        f,
        attention.dense_bias(
            f.get("r_mul"), f.get("r_add"), f.get("q_ptr"), f.get("k_ptr"), len(f["q"]), len(f["k"])
        ),
    )


@operator
def point(f):
    return attend(f, attention.point_bias(f["x"], f["xs"], given(f, *RELATIVE_WEIGHTS), f.get("m"), f.get("ms")))


@operator
def sequence(f):
    return attend(f, attention.sequence_bias(f["s"], f["ss"], given(f, *RELATIVE_WEIGHTS)))


@operator
def graph_attention(f):
    return attend(
        f,
        attention.graph_bias(
            f["rowptr"], f["col"], f["edge_attr"], f["top"], f["partner"], f["weight"], given(f, *RELATIVE_WEIGHTS)
        ),
    )


@operator
def primal_attention(f):
    mask = (f["mask_rowptr"], f["mask_col"]) if "mask_col" in f else None
    return primal.primal_attention(
        f["q"],
        f["k"],
        f["v"],
        linear=number(f, "kernel", 0) == 1,
        eps=number(f, "eps", Decimal(0)),
        mask=mask,
        **given(f, "beta", "pool", "q_ptr", "k_ptr"),
    )


@operator
def batch_norm(f):
    return primal.batch_norm_attention(f["q"], f["k"], f["v"], eps=number(f, "eps"), **given(f, "q_ptr", "k_ptr"))


@operator
def conv1d(f):
    return primal.conv1d_attention(f["q"], f["k"], f["v"], **given(f, "weight", "q_ptr", "k_ptr"))


@operator
def conv2d(f):
    return primal.conv2d_attention(f["q"], f["k"], f["v"], weight=f["weight"], nh=number(f, "nh"), nw=number(f, "nw"))


@operator
def scaled_head(f):
    return primal.scaled_head_layer(
        **given(f, "x", "w_q", "w_k", "w_v", "w_o", "b_k", "b_v", "pool", "beta", "ptr"),
        h=number(f, "h"),
        mode=number(f, "mode"),
        linear=number(f, "kernel") == 1,
        eps=number(f, "eps"),
    )


def primal_svr(inputs):
    keys, x = inputs["keys"], inputs["x"]
    duals, biases = [], []
    for column in zip(*inputs["targets"]):
        dual, bias = regression.support_vector_regression(keys, column, number(inputs, "C"), number(inputs, "epsilon"))
        duals.append(dual)
        biases.append(bias)
    return {
        "h": stacked(regression.kernel_sums(keys, keys)),
        "dual": stacked(list(zip(*duals))),
        "bias": stacked(biases),
        "prediction_keys": stacked(regression.predictions(keys, keys, duals, biases)),
        "prediction_x": stacked(regression.predictions(x, keys, duals, biases)),
    }


@operator
def polynomial_attention(f):
    return polynomial.polynomial_attention(
        f["q"],
        f["k"],
        f["v"],
        number(f, "degree"),
        number(f, "scale"),
        number(f, "causal", 0) == 1,
        number(f, "center", 0) == 1,
        **given(f, "q_ptr", "k_ptr"),
    )


def polynomial_closed_forms(inputs):
    results = {}
    for form in ("exact", "approx", "paper"):
        leaves = with_leaves(inputs)
        out = polynomial.closed_form(
            leaves["x"], leaves["w"], leaves["w_v"], number(inputs, "scale"), number(inputs, "degree"), form
        )
        if form != "paper":
            results["out_" + form] = out
        results.update(gradients(leaves, out, inputs["grad_out"], "_" + form))
    return results


def polynomial_layers(inputs):
    results = {}
    count = sum(name.startswith("w_q_") for name in inputs)
    for form in ("exact", "approx", "paper"):
        leaves = with_leaves(inputs)
        weights = [[leaves[f"{name}_{i}"] for name in ("w_q", "w_k", "w_v", "w_o")] for i in range(count)]
        rows = polynomial.layers(
            leaves["x"],
            weights,
            number(inputs, "heads"),
            number(inputs, "degree"),
            number(inputs, "scale"),
            number(inputs, "causal"),
            number(inputs, "center"),
            inputs.get("ptr"),
            form,
        )
        target = inputs["target"]
        loss = (polynomial.squared_error if len(target.shape) == 2 else polynomial.cross_entropy)(rows, target)
        results["y_" + form] = stacked(rows)
        results["loss_" + form] = Tensor((), [loss])
        results.update(gradients(leaves, Tensor((), [loss]), Tensor((), [Decimal(1)]), "_" + form))
    return results


def farthest_point_sampling(inputs):
    return {
        "out": integers(
            geometry.farthest_point_sampling(
                inputs["points"], number(inputs, "m"), number(inputs, "start"), inputs.get("ptr")
            )
        )
    }


def knn(inputs):
    leaves = with_leaves(inputs)
    index, dist2 = geometry.knn(
        leaves["points"], leaves["queries"], number(inputs, "k"), inputs.get("ptr"), inputs.get("query_ptr")
    )
    out = {"out.index": stacked(index), "out.dist2": stacked(dist2)}
    return {**out, **gradients(leaves, out["out.dist2"], inputs["grad_out.dist2"])}


def random_walk_pe(inputs):
    return {
        "out": stacked(
            random_walk.random_walk_pe(
                list(inputs["rowptr"]), list(inputs["col"]), list(inputs["weight"]), number(inputs, "steps")
            )
        )
    }


def sinusoid(inputs):
    return {"out": stacked(sinusoids.sinusoid(number(inputs, "n"), number(inputs, "d")))}


def middle_tensors(prefix, middle):
    return {prefix + name: stacked(values) for name, values in middle.items()}


PAYLOAD = ("coordinates", "normals", "s", "rowptr", "col", "edge_attr")


def layer(inputs):
    leaves, middle = with_leaves(inputs), {}
    out = stacked(
        layers.layer(
            list(leaves["x"]),
            leaves,
            number(inputs, "heads"),
            number(inputs, "k"),
            number(inputs, "pre_norm") == 1,
            inputs.get("ptr"),
            given(leaves, *PAYLOAD),
            middle,
        )
    )
    return {"out": out, **gradients(leaves, out, inputs["grad_out"]), **middle_tensors("mid.", middle)}


def point_classifier(inputs):
    leaves, middles = with_leaves(inputs), []
    out = stacked(
        layers.point_classifier(
            leaves,
            number(inputs, "heads"),
            number(inputs, "k"),
            number(inputs, "head_k"),
            number(inputs, "layers"),
            inputs.get("ptr"),
            given(leaves, *PAYLOAD),
            middles,
        )
    )
    results = {"out": out, **gradients(leaves, out, inputs["grad_out"])}
    for i, middle in enumerate(middles):
        results.update(middle_tensors(f"mid.{i}.", middle))
    return results


FAMILIES = {  # by the beginning of a fixture's name; the longest that fits
    "sample_pairs_": sample_pairs,
    "sampler_softplus": sampler("softplus"),
    "sampler_hard_straight_through": sampler("hard"),
    "sampler_gumbel_softmax": sampler("gumbel_softmax"),
    "sampler_with_replacement": sampler_with_replacement,
    "softmax_pool": softmax_pool,
    "maxout_": maxout,
    "point_": point,
    "sequence_": sequence,
    "graph_": graph_attention,
    "primal_": primal_attention,
    "primal_layer_bn_full": batch_norm,
    "primal_layer_conv1d": conv1d,
    "primal_layer_conv2d": conv2d,
    "primal_layer_scaled_head": scaled_head,
    "primal_svr": primal_svr,
    "polynomial_": polynomial_attention,
    "polynomial_closed_forms": polynomial_closed_forms,
    "polynomial_layers": polynomial_layers,
    "farthest_point_sampling_": farthest_point_sampling,
    "knn_": knn,
    "random_walk_pe_": random_walk_pe,
    "sinusoid": sinusoid,
    "layer_": layer,
    "model_point_": point_classifier,
}


def family(name):
    return FAMILIES[max((prefix for prefix in FAMILIES if name.startswith(prefix)), key=len)]
