# SPDX-License-Identifier: Apache-2.0
"""Every operator with every argument broken in every way: bad_arguments.py LIBRARY TORCH_VERSION [OPERATOR…]

Takes the valid cases of opcheck.py and breaks one argument at a time: its shape, type, device, layout, its values. Each
call must raise an error that names the argument, or give a result that is the same a second time, forward and backward.
Operators that are behind it (geosft::_…) get broken shapes and indices in place of what it calls them with: they must end, too.
Each operator runs in a process of its own, so a crash is a failure as well, and so is a call of more than 30 s.
"""

import faulthandler
import multiprocessing
import os
import re
import sys
import tempfile
import traceback

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # the second thread would spin between calls; read when PyTorch is imported

import opcheck
from opcheck import torch
from torch.utils._python_dispatch import TorchDispatchMode

INT64_MAX, INT64_MIN = 2**63 - 1, -(2**63)
SECONDS_A_CALL, SECONDS_AN_OPERATOR = 30, 600


def with_value(x, place, value):
    x = x.detach().clone()
    x.view(-1)[place] = value
    return x


def broken_shapes(x):
    yield "without rows", x[:0]
    yield "a row short", x[:-1]
    yield "a row more", torch.cat([x, x[:1]]) if len(x) else x.new_zeros(1, *x.shape[1:])
    yield "a dimension more", x.unsqueeze(-1)
    yield "a dimension more in front", x.unsqueeze(0)
    yield "a dimension less", x.sum(-1).to(x.dtype)
    yield "a number", x.new_zeros(())
    if x.dim() > 1:
        yield "a channel short", x[..., :-1]
        yield "without channels", x[..., :0]
        yield "a channel more", torch.cat([x, x[..., :1]], -1)
    if x.dim() > 2:
        yield "a head short", x[:, :-1]
        yield "without heads", x[:, :0]


def broken_kinds(x):
    for dtype in (torch.float16, torch.float32, torch.float64, torch.int32, torch.int64, torch.bool, torch.complex64):
        if dtype != x.dtype:
            yield f"of {dtype}", x.detach().to(dtype)
    yield "on meta", x.detach().to("meta")
    yield "sparse", x.detach().to_sparse()
    yield "quantised", torch.quantize_per_tensor(x.detach().float(), 0.1, 0, torch.quint8)
    yield "None", None
    yield "a list", [1.0, 2.0]


def broken_numbers(x):
    """Of a floating tensor."""
    for value in (float("nan"), float("inf"), -float("inf"), 3e38, -3e38, 1e-40):
        yield f"all {value}", torch.full_like(x, value).requires_grad_(x.requires_grad)
        for place in {0, x.numel() - 1} if x.numel() else ():
            yield f"{value} at {place}", with_value(x, place, value).requires_grad_(x.requires_grad)


def broken_indices(x):
    """Of an int64 tensor: ptr, rows, columns."""
    yield "reversed", x.flip(0)
    yield "doubled", x * 2
    yield "minus one", x - 1
    yield "plus one", x + 1
    for value in (-1, 1, 1000, 2**31, 2**32, 2**40, INT64_MAX, INT64_MAX - 1, INT64_MIN):
        yield f"all {value}", torch.full_like(x, value)
        for place in range(x.numel()):
            yield f"{value} at {place}", with_value(x, place, value)


def broken_tensor(x):
    yield from broken_shapes(x)
    yield from broken_kinds(x)
    yield from broken_numbers(x) if x.is_floating_point() else broken_indices(x)


def broken(value, kind):
    """(what was done, value) for a valid value; kind is the schema's type of an argument that is None."""
    if isinstance(value, torch.Tensor):
        yield from broken_tensor(value)
    elif isinstance(value, bool):
        yield "the other", not value
    elif isinstance(value, int):
        yield from ((str(number), number) for number in (0, -1, 1000, 2**40, INT64_MAX, INT64_MIN))
    elif isinstance(value, float):
        numbers = (0.0, -1.0, 1e-320, 1e300, -1e300, float("nan"), float("inf"), -float("inf"))
        yield from ((str(number), number) for number in numbers)
    elif isinstance(value, str):
        yield from ((repr(text), text) for text in ("", "nonsense", "x" * 100000, "softmax\0"))
    elif isinstance(value, list):
        lists = ([], [0] * len(value), [-1] * len(value), [INT64_MAX] * len(value), [INT64_MIN] * len(value), value + [1], [2**40, 1])
        yield from ((str(numbers), numbers) for numbers in lists)
    elif kind == "Optional[Tensor]":
        for dtype in (torch.int64, torch.float32):
            yield f"{dtype} where there was none", torch.zeros(3, dtype=dtype)
            yield f"empty {dtype} where there was none", torch.zeros(0, dtype=dtype)
            yield f"[0, {INT64_MAX}] where there was none", torch.tensor([0, INT64_MAX])


def flat(result):
    return [result] if isinstance(result, torch.Tensor) else list(result)


def evaluate(op, arguments):
    """Results and gradients of the call."""
    torch.manual_seed(1)
    results = flat(op(**arguments))
    inputs = [x for x in arguments.values() if isinstance(x, torch.Tensor) and x.requires_grad]
    floating = [x for x in results if x.requires_grad]
    if inputs and floating and not floating[0].is_meta:
        results += torch.autograd.grad([x.sum() for x in floating], inputs, allow_unused=True)
    return [x.detach() for x in results if x is not None]


def equal(a, b):
    return torch.equal(a.nan_to_num(1.5) if a.is_floating_point() else a,
                       b.nan_to_num(1.5) if b.is_floating_point() else b)


def is_named(text, name, arguments):
    """Whether an error is of this argument, of one that must agree with it, or LibTorch's error for such tensors."""
    own = rf"(?<!\w){name}(?!\w)"
    other = rf"(?<!\w)({'|'.join(arguments)})( and \w+)? must "
    backend = r"Could not run 'geosft::\w+' with arguments from the '(Sparse|Quantized)CPU' backend"
    return re.search(f"{own}|{other}|{backend}|can't allocate memory", text)


def complaint(op, arguments, name):
    """What is wrong with this call; nothing where it is as it should be."""
    try:
        first = evaluate(op, arguments)
    except Exception as error:
        return None if is_named(str(error), name, arguments) else f"the error does not name {name}: {str(error)[:300]}"
    second = evaluate(op, arguments)
    same = len(first) == len(second) and (any(x.is_meta for x in first) or all(map(equal, first, second)))
    return None if same else "two calls give different results"


class InnerCalls(TorchDispatchMode):
    """Keeps the calls of operators geosft::_… while it is entered: {operator: its arguments}, the last of each."""

    def __init__(self):
        super().__init__()
        self.calls = {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.namespace == "geosft" and func._schema.name.startswith("geosft::_"):
            self.calls[func] = dict(zip((argument.name for argument in func._schema.arguments), args)) | (kwargs or {})
        return func(*args, **(kwargs or {}))


def broken_inside(value):
    """(what was done, value) for an argument that an operator was called with by another one."""
    if isinstance(value, torch.Tensor):
        yield from broken_shapes(value.detach())
        yield "None", None
        if value.dtype == torch.int64:
            yield from broken_indices(value)
    elif isinstance(value, (list, tuple)):
        yield "an empty list", []
        yield "a list without its last", list(value[:-1])
        yield "a list with None at its end", [*value, None]
        for place, one in enumerate(value):
            if isinstance(one, torch.Tensor):
                for what, other in broken_inside(one):
                    yield f"{what} at {place}", [*value[:place], other, *value[place + 1:]]
    elif not isinstance(value, str):
        yield from broken(value, "")


def timed(seconds, place, call):
    """What `call` returns. The process ends, with its stack, where that takes more than so many seconds."""
    print(f"at {place}", file=sys.stderr, flush=True)
    faulthandler.dump_traceback_later(seconds, exit=True)
    try:
        return call()
    finally:
        faulthandler.cancel_dump_traceback_later()


def report(name, count, failures, more=""):
    """Prints how many broken calls are as they should be, and those that are not; the exit code."""
    print(f"{name}: {count - len(failures)} of {count} broken calls as they should be{more}")
    for line in failures:
        print(f"FAILED {line}")
    return 1 if failures else 0


def call_inside(op, valid):
    """How many broken calls of an operator have ended, well or with an error."""
    count = 0
    for name, value in valid.items():
        for what, other in broken_inside(value):
            count += 1
            print(f"at {op}: {name} {what[:80]}", file=sys.stderr, flush=True)
            faulthandler.dump_traceback_later(SECONDS_A_CALL, exit=True)
            try:
                op(**(valid | {name: other}))
            except Exception:  # whatever it says: nobody is meant to call it
                pass
            faulthandler.cancel_dump_traceback_later()
    return count


def check(operator):
    op = getattr(torch.ops.geosft, operator.__name__).default
    schema, count, inside, failures = op._schema.arguments, 0, 0, []
    for case, args, kwargs in operator(opcheck.Inputs(torch.float32, False)):
        defaults = {argument.name: argument.default_value for argument in schema if argument.has_default_value()}
        valid = defaults | dict(zip((argument.name for argument in schema), args)) | kwargs
        with InnerCalls() as inner:
            evaluate(op, valid)
        inside += sum(call_inside(other, arguments) for other, arguments in inner.calls.items())
        for argument in schema:
            for what, value in broken(valid[argument.name], str(argument.type)):
                count += 1
                place = f"{operator.__name__}, {case}: {argument.name} {what[:80]}"
                wrong = timed(SECONDS_A_CALL, place, lambda: complaint(op, valid | {argument.name: value}, argument.name))
                if wrong:
                    failures.append(f"{place}: {wrong}")
    return report(operator.__name__, count, failures, f", {inside} broken calls behind it ended")


def is_well_apart(name, seconds, call):
    """Whether `call` returns 0 in a process of its own, a copy of this one, which need not import PyTorch again."""
    with tempfile.TemporaryFile("w+") as errors:
        def run():
            os.dup2(errors.fileno(), 2)
            try:
                sys.exit(call())
            except Exception:
                traceback.print_exc(file=sys.stdout)
                sys.exit(1)

        sys.stdout.flush()
        process = multiprocessing.get_context("fork").Process(target=run)
        process.start()
        process.join(seconds)
        if process.exitcode is None:
            process.kill()
            process.join()
            print(f"FAILED {name}: not done in {seconds} s")
        elif process.exitcode not in (0, 1):
            errors.seek(0)
            said = errors.read()
            last = [line for line in said.splitlines() if line.startswith("at ")]
            print(f"FAILED {name}: process ended with {process.exitcode} {last[-1:] or said[-500:]}")
        return process.exitcode == 0


def check_with_two_threads(operator):
    torch.set_num_threads(2)
    return check(operator)


def main():
    library, version, *names = sys.argv[1:]
    if torch.__version__.split("+")[0] != version:
        print(f"skipped: PyTorch {torch.__version__} is not {version}, which the library was built with")
        return opcheck.SKIPPED
    operators = {operator.__name__: operator for operator in opcheck.OPERATORS}
    torch.ops.load_library(library)
    chosen = [operators[name] for name in names] or operators.values()
    well = [is_well_apart(one.__name__, SECONDS_AN_OPERATOR, lambda one=one: check_with_two_threads(one)) for one in chosen]
    return 0 if all(well) else 1


if __name__ == "__main__":
    sys.exit(main())
