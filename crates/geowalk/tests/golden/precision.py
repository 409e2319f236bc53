"""Numbers of 120 digits, the sensitivity of an answer to its inputs, and the cases made from both."""
import math

from mpmath import mp, mpf

DIGITS = 120
PRINTED = 25
HALF_ULP = mpf(2) ** -53
mp.dps = DIGITS


def exact(x):
    """Doubles to multiple precision, without rounding."""
    return [exact(y) for y in x] if isinstance(x, (list, tuple)) else mpf(x)


def doubles(x):
    """Multiple precision to the nearest doubles."""
    return [doubles(y) for y in x] if isinstance(x, (list, tuple)) else float(x)


def text(x):
    """A double as the shortest text that reads back as itself, a result with 25 digits."""
    if isinstance(x, (list, tuple)):
        return [text(y) for y in x]
    return repr(float(x)) if isinstance(x, (float, int)) else mp.nstr(x, PRINTED)


def dot(x, y):
    return mp.fsum(a * b for a, b in zip(x, y))


def norm(x):
    return mp.sqrt(dot(x, x))


def add(x, y, c=1):
    """x + c y."""
    return [a + c * b for a, b in zip(x, y)]


def scale(c, x):
    return [c * a for a in x]


def quasi(k, n):
    """n readable numbers in (-1, 1): the golden-ratio sequence, three decimals."""
    golden = (math.sqrt(5) - 1) / 2
    return [round(2 * math.modf((k * 7 + i + 1) * golden)[0] - 1, 3) for i in range(n)]


def error(x, e, compare):
    """The relative error that golden.rs computes: by the largest coordinate, or coordinate by coordinate."""
    x, e = (x, e) if isinstance(e, list) else ([x], [e])
    if compare == "coordinatewise":
        return max(abs(a - b) / abs(b) if b else abs(a) for a, b in zip(x, e))
    if compare == "gauge":
        x, e = [a - x[0] for a in x], [b - e[0] for b in e]
    largest = max(abs(b) for b in e)
    return max(abs(a - b) for a, b in zip(x, e)) / largest if largest else max(abs(a) for a in x)


def sensitivity(f, inputs, compare):
    """Relative change of f under half-ulp relative changes of its inputs, summed over all of them."""
    base, total = f(*inputs), mpf(0)
    for k, x in enumerate(inputs):
        for i in range(len(x) if isinstance(x, list) else 1):
            y = list(inputs)
            if isinstance(x, list):
                y[k] = x[:i] + [x[i] * (1 + HALF_ULP)] + x[i + 1:]
            else:
                y[k] = x * (1 + HALF_ULP)
            total += error(f(*y), base, compare)
    return total


def round_up(x):
    """One significant digit, not smaller."""
    exponent = int(mp.floor(mp.log10(x)))
    return float(f"{int(mp.ceil(x / mpf(10) ** exponent))}e{exponent}")


INTERIOR = "interior"
NEAR_ZERO, NEAR_ANTIPODE, BOUNDARY, HUGE = "near-zero", "near-antipode", "boundary", "huge"


def case(what, op, tag, inputs, f, compare=None, tolerance=None, reason=None):
    """One case: `inputs` maps names to doubles; `f` takes them in that order, in multiple precision."""
    arguments = [exact(x) for x in inputs.values()]
    expected = f(*arguments)
    if tolerance is None:
        moved = sensitivity(f, arguments, compare)
        if tag == INTERIOR:
            assert 8 * moved <= mpf("1e-12"), (what, op, inputs, moved)
        tolerance, reason = 1e-12, "well conditioned"
        if 8 * moved > mpf("1e-12"):
            tolerance = round_up(8 * moved)
            reason = f"half an ulp in each input moves the answer by {mp.nstr(moved, 2)}"
    assert tag == INTERIOR or reason, (what, op)
    result = {**what, "op": op, "tag": tag, **{k: text(x) for k, x in inputs.items()}, "expected": text(expected)}
    if compare:
        result["compare"] = compare
    return {**result, "tolerance": text(tolerance), "reason": reason or "well conditioned"}


def quotient(f, x, order=1, relative=mpf("1e-60"), size=None):
    """A central difference quotient. At hundreds of digits its error is far below what is printed."""
    h = (abs(x) if size is None else size) * relative or relative
    if order == 1:
        return (f(x + h) - f(x - h)) / (2 * h)
    return (f(x + h) - 2 * f(x) + f(x - h)) / h**2


def group(what, op, tag, inputs, f, reason=None):
    """Many scalar cases in one: every input is a list of doubles, `f` takes one of each. All are demanded to 1e-12."""
    rows = list(zip(*(exact(x) for x in inputs.values())))
    if tag == INTERIOR:
        for row in rows:
            moved = sensitivity(f, list(row), None)
            assert 8 * moved <= mpf("1e-12"), (what, op, row, moved)
    result = {**what, "op": op, "tag": tag, **{k: text(x) for k, x in inputs.items()}, "expected": text([f(*row) for row in rows])}
    return {**result, "compare": "coordinatewise", "tolerance": "1e-12", "reason": reason or "well conditioned"}
