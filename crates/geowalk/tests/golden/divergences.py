"""Divergences as certificates compute them: from the start to a comparator, of a step, and the gaps of AdaHedge.

Each follows from its definition. Comparators come as near to the start as doubles allow, weights collapse and come
back.
"""
from mpmath import mp, mpf

from precision import HUGE, INTERIOR, NEAR_ZERO, case, dot

CLOSE = dict(tolerance=1e-12, reason="u - w is exact in doubles, so nothing has to be lost to cancellation")


def entropy(u, w):
    return mp.fsum((a * mp.log(a / b) if a else 0) - a + b for a, b in zip(u, w))


def signed_even(u, scale):
    """What u leaves of the sum 1 is spread evenly over (Ux, -Ux)."""
    count = 2 * len(u)
    left = (1 - mp.fsum(abs(a) for a in u) / scale) / count
    return entropy([left + abs(a) / scale for a in u] + [left] * len(u), [mpf(1) / count] * count)


def signed_each(u, scale, w):
    """The nearest weights with p - q = u/scale: p q = w^2."""
    p = [a / scale / 2 + mp.sqrt((a / scale / 2) ** 2 + w**2) for a in u]
    return entropy(p + [w**2 / a for a in p], [w] * (2 * len(u)))


def absolute(z, y):
    return mp.sign(z - y)


def steps(rate, rows, labels, n, normal, start):
    """D(w_t, w_t+1) of the last multiplicative step with the absolute loss, and the largest |rate slope z| of it."""
    w = [mpf(start)] * n
    for t, y in enumerate(labels):
        x = rows[t * n:(t + 1) * n]
        z = dot(w, x)
        moved = [a * mp.exp(-rate * absolute(z, y) * b) for a, b in zip(w, x)]
        if normal:
            total = mp.fsum(moved)
            moved = [a / total for a in moved]
        before, w = w, moved
    return entropy(before, w), abs(rate * absolute(z, y) * z)


def gaps(losses, n):
    """Delta_T + Delta_T-1 of AdaHedge."""
    sums, delta, before = [mpf(0)] * n, mpf(0), mpf(0)
    for t in range(0, len(losses), n):
        row, least = losses[t:t + n], min(sums)
        new = [a + b for a, b in zip(sums, row)]
        if delta == 0:
            leaders = [i for i in range(n) if sums[i] == least]
            mean, mix = mp.fsum(row[i] for i in leaders) / len(leaders), min(new) - least
        else:
            rate = mp.log(n) / delta
            w = [mp.exp(-rate * (a - least)) for a in sums]
            total = mp.fsum(w)
            mean = dot(w, row) / total
            mix = -mp.log(mp.fsum(a * mp.exp(-rate * b) for a, b in zip(w, row)) / total) / rate
        before, delta, sums = delta, delta + mean - mix, new
    return delta + before


def divergence_cases():
    cases = []

    def put(kind, tag, f, tolerance=None, reason=None, **inputs):
        what = {"divergence": kind, "n": len(next(iter(inputs.values())))}
        cases.append(case(what, "divergence", tag, inputs, f, None, tolerance, reason))

    with mp.workdps(700):
        for k in range(1, 17):
            near = 2.0 ** -(3 * k)
            tag = dict(tag=NEAR_ZERO, **CLOSE)
            put("even", f=lambda u: entropy(u, [mpf(1) / 4] * 4), u=[0.25 + near / 4, 0.25, 0.25 - near / 8, 0.25 - near / 8], **tag)
            put("each", f=lambda u, w: entropy(u, [w[0]] * 3), u=[0.7 * (1 + near), 0.7, 0.7 * (1 - near)], w=[0.7], **tag)
            put("signed-even", f=lambda u, s: signed_even(u, s[0]), u=[near, -near / 2], scale=[3.0], **tag)
            put("signed-each", f=lambda u, s, w: signed_each(u, s[0], w[0]), u=[near, -near / 2, 0.0], scale=[3.0], w=[0.1], **tag)
            put("orthant", f=lambda u, w: mp.fsum(mp.log(a / w[0]) ** 2 for a in u) / 2, u=[0.1 * (1 + near), 0.1], w=[0.1], **tag)
            put("euclidean", f=lambda u, w: mp.fsum((a - b) ** 2 for a, b in zip(u, w)) / 2, u=[1.0 + near, 2.0, 3.0 - near], w=[1.0, 2.0, 3.0], **tag)
        far = dict(tag=HUGE, tolerance=1e-11, reason="bounds are rounded up by some 1e-12")
        for size in (1e-150, 1e-50, 1e-3, 1.0, 30.0, 1e50, 1e150):
            put("each", f=lambda u, w: entropy(u, [w[0]] * 3), u=[size, 0.0, 2 * size], w=[0.7], **far)
            put("each", f=lambda u, w: entropy(u, [w[0]] * 2), u=[0.5, 0.0], w=[size], **far)
            put("signed-each", f=lambda u, s, w: signed_each(u, s[0], w[0]), u=[size, -size], scale=[3.0], w=[0.1], **far)
            put("burg", f=lambda u, w: mp.fsum(a / w[0] - mp.log(a / w[0]) - 1 for a in u), u=[size, 2 * size], w=[0.2], **far)
            put("orthant", f=lambda u, w: mp.fsum(mp.log(a / w[0]) ** 2 for a in u) / 2, u=[size, 2 * size], w=[0.1], **far)
            if size > 1e-100:  # below that what squares may have lost to underflow is added
                put("p-norm", f=lambda u, q: mp.fsum(abs(a) ** q[0] for a in u) ** (2 / q[0]) / 2, u=[size, -2 * size], q=[1.5], **far)
        for u in ([1.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0], [1e-300, 1.0 - 2.0**-40, 0.0, 2.0**-40]):
            put("even", f=lambda u: entropy(u, [mpf(1) / 4] * 4), u=u, **far)
        for u in ([3.0, 0.0], [-1.0, 2.0], [0.0, -3.0]):
            put("signed-even", f=lambda u, s: signed_even(u, s[0]), u=u, scale=[3.0], **far)
        # Steps: short, long, and out of a state in which one coordinate has all the weight.
        for rate in (1e-12, 1e-6, 1e-3, 0.1, 1.0, 6.5624, 20.0, 60.0, 300.0):
            for rows, labels in (
                ([1.0, 0.0], [2.0]),
                ([1.0, 0.25, 0.5, 1.0], [2.0, -1.0]),
                ([1.0, -1.0, 1.0, -1.0], [-1.0, -0.5]),
                ([1.0, -1.0, 1.0, -1.0, 1.0, -1.0], [-1.0, -0.5, 1.0]),
                ([2.0, 1.0, 2.0, 1.0, 1.0, 2.0], [0.0, 0.0, 5.0]),
            ):
                for kind, normal, start in (("step-simplex", True, 0.5), ("step-entropy", False, 0.125)):
                    if not normal and rate > 20:
                        continue  # weights that are cut
                    d, linear = steps(mpf(rate), [mpf(x) for x in rows], [mpf(y) for y in labels], 2, normal, start)
                    if d == 0:
                        continue
                    slip = mpf("4e-13") * min(linear**2, 1 + linear) if normal else 0
                    tolerance = float(mp.nstr(mpf("1e-11") + 2 * slip / d, 2))
                    put(kind, HUGE if rate >= 1 else INTERIOR, lambda r, x, y: steps(r[0], x, y, 2, normal, start)[0], tolerance,
                        "what the bound allows for", rate=[rate], x=rows, y=labels)
        for losses in (
            [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.5, 0.25, 0.125],
            [0.1, 0.1, 0.3, 0.2, 0.2, 0.0, 0.0, 0.5, 0.25],
            [7.0, 9.0, 8.0, 9.0, 7.0, 8.0, 7.0, 9.0, 8.0],
            [0.0, 0.0, 0.0, 1e-9, 0.0, 0.0, 1.0, 0.0, 0.5],
            [1.0, 0.0, 0.5, 0.25, 0.75, 0.5],
        ):
            put("gaps", HUGE, lambda x: gaps(x, 3), 1e-11, "losses are rounded to some 1e-15 of their size", x=losses)
    return cases
