# SPDX-License-Identifier: Apache-2.0
"""Numbers of 80 decimal digits and reverse-mode differentiation of formulas over them.

A formula is written with Python's operators and the functions below. Its inputs are constants (decimal.Decimal) or
Variables. Each operation on a Variable appends a Variable to a tape, with its inputs and the derivative by each of
them; backward() walks the tape from its end.

Why not float64: the last bits of exp, log and sums depend on the processor and on libraries. Here results are rounded
to float64 once, when they are stored, so that what is stored is the float64 number nearest to the true value. Python's
decimal arithmetic is specified to the last digit, exp and log included, so each machine finds the same number. With 80
digits, sums of products of float32 numbers are exact; some of them lie in the middle between two float64 numbers.
"""

import decimal
import math
import typing

DIGITS = 80
Decimal = decimal.Decimal
ZERO, ONE = Decimal(0), Decimal(1)
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798")


def set_precision(digits):
    """Decimal digits of everything that is computed from here on. Exponents are practically without bounds."""
    decimal.setcontext(
        decimal.Context(
            prec=digits,
            rounding=decimal.ROUND_HALF_EVEN,
            Emin=-999999,
            Emax=999999,
            traps=[decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow],
        )
    )


set_precision(DIGITS)
tape = []


class Variable:
    """A number with a gradient; `sources` are pairs of a Variable it was computed from and the derivative by that."""

    __slots__ = ("value", "sources", "gradient")

    def __init__(self, value, sources=()):
        self.value, self.sources, self.gradient = value, sources, ZERO
        tape.append(self)

    def __add__(self, other):
        return record(self.value + value(other), (self, ONE), (other, ONE))

    def __sub__(self, other):
        return record(self.value - value(other), (self, ONE), (other, -ONE))

    def __rsub__(self, other):
        return Variable(other - self.value, ((self, -ONE),))

    def __mul__(self, other):
        return record(self.value * value(other), (self, value(other)), (other, self.value))

    def __truediv__(self, other):
        quotient, inverse = self.value / value(other), ONE / value(other)
        return record(quotient, (self, inverse), (other, -quotient * inverse))

    def __rtruediv__(self, other):
        quotient = other / self.value
        return Variable(quotient, ((self, -quotient / self.value),))

    def __neg__(self):
        return Variable(-self.value, ((self, -ONE),))

    __radd__, __rmul__ = __add__, __mul__


Scalar = typing.Union[Variable, Decimal]


def value(x):
    return x.value if isinstance(x, Variable) else x


def record(result, *sources):
    """The result of an operation; `sources`: pairs of an input and the derivative by it. Constants have no gradient."""
    sources = [source for source in sources if isinstance(source[0], Variable)]
    return Variable(result, sources) if sources else result


def backward(outputs, grad_output):
    """Adds to the gradient of each Variable on the tape that of sum(grad_output * outputs), and clears the tape."""
    for output, weight in zip(outputs, grad_output, strict=True):
        if isinstance(output, Variable):
            output.gradient += weight
    while tape:
        variable = tape.pop()
        if variable.gradient:
            for source, derivative in variable.sources:
                source.gradient += derivative * variable.gradient


def total(terms):
    terms = list(terms)
    return record(sum(map(value, terms), ZERO), *((term, ONE) for term in terms))


def mean(terms):
    return total(terms) / Decimal(len(terms))


def dot(xs, ys):
    pairs = [(x, y, value(x), value(y)) for x, y in zip(xs, ys, strict=True)]
    sources = [source for x, y, a, b in pairs for source in ((x, b), (y, a))]
    return record(sum((a * b for _, _, a, b in pairs), ZERO), *sources)


def exp(x):
    result = value(x).exp()
    return record(result, (x, result))


def log(x):
    return record(value(x).ln(), (x, ONE / value(x)))


def sqrt(x):
    root = value(x).sqrt()
    return record(root, (x, ONE / (2 * root)))


class Margin:
    """The smallest difference of two numbers whose order decided a branch. Equal numbers are intended: not counted."""

    def __init__(self):
        self.smallest = Decimal("Infinity")

    def note(self, difference):
        if difference:
            self.smallest = min(self.smallest, abs(difference))


margins = {}


def reset_margins():
    margins.update(maximum=Margin(), relu=Margin(), rank=Margin())


reset_margins()


def maximum(x, y):
    """The first of two equal numbers takes the gradient."""
    margins["maximum"].note(value(x) - value(y))
    return x if value(x) >= value(y) else y


def relu(x):
    """Without gradient at 0."""
    margins["relu"].note(value(x))
    return x if value(x) > 0 else ZERO


def sigmoid(x):
    e = value(x).exp()
    return record(e / (1 + e), (x, e / (1 + e) ** 2))


def softplus(x):
    """log(1 + e^x); with twice the digits, as 1 + e^x has few of a small e^x, and e^x itself where it has none."""
    e = value(x).exp()
    with decimal.localcontext() as context:
        context.prec *= 2
        result = (1 + e).ln() if e.adjusted() > -DIGITS else e
    return record(+result, (x, e / (1 + e)))  # + rounds


def sine_and_cosine(x):
    """Of a constant: Taylor series, with more digits for what cancels."""
    with decimal.localcontext() as context:
        context.prec += 10 + 2 * int(abs(x))
        sums, term, n = [ZERO, ZERO], ONE, 0
        while abs(term) > Decimal(10) ** -context.prec:
            sums[n % 2] += term if n % 4 < 2 else -term
            n += 1
            term = term * x / n
    return +sums[1], +sums[0]


def erf(x):
    """erf(x) = 2 / sqrt(pi) e^(-x^2) sum_n 2^n x^(2n+1) / (1 3 5 ... (2n+1)): terms of one sign."""
    a = value(x)
    density = 2 / PI.sqrt() * (-a * a).exp()
    series, term, n = ZERO, a, 0
    while abs(term) > abs(series) * Decimal(10) ** -decimal.getcontext().prec:
        series += term
        n += 1
        term = term * 2 * a * a / (2 * n + 1)
    return record(density * series, (x, density))


def constant(x):
    """The same number without a gradient (detach)."""
    return value(x)


class Tensor:
    """Numbers in row-major order, whole ones (int) or real ones (Decimal or Variable)."""

    def __init__(self, shape, elements, whole=None):
        self.shape, self.elements = tuple(shape), list(elements)
        self.whole = isinstance(self.elements[0], int) if whole is None and self.elements else bool(whole)
        if len(self.elements) != math.prod(self.shape):
            raise ValueError(f"{len(self.elements)} elements for shape {self.shape}")

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, index):
        """An element for an index of each dimension; a list of the last dimension's elements for one index less."""
        index = index if isinstance(index, tuple) else (index,)
        position = 0
        for i, size in zip(index, self.shape):
            if not 0 <= i < size:
                raise IndexError(f"{index} of a tensor of shape {self.shape}")
            position = position * size + i
        if len(index) == len(self.shape):
            return self.elements[position]
        if len(index) == len(self.shape) - 1:
            return self.elements[position * self.shape[-1] : (position + 1) * self.shape[-1]]
        raise IndexError(f"{index} of a tensor of shape {self.shape}")

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def item(self):
        return self.elements[0]


def stacked(rows):
    """The tensor of equally long lists of lists ... of numbers."""
    shape, flat = [], list(rows)
    while flat and isinstance(flat[0], (list, tuple)):
        shape.append(len(flat[0]))
        flat = [x for row in flat for x in row]
    return Tensor([len(rows), *shape], flat)
