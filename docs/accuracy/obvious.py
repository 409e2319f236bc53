#!/usr/bin/env python3
# requires: mpmath==1.4.1
"""Relative errors of textbook formulas in double precision, against 80 digits.

    python docs/accuracy/obvious.py

The pages in this folder compare these errors with those that the golden test prints for the formulas of geowalk.
"""
import math

from mpmath import mp, mpf

mp.dps = 80


def error(found, exact):
    return float(abs((mpf(found) - exact) / exact))


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def exactly(a):
    return [mpf(x) for x in a]


def sphere():
    for d in (1e-3, 1e-6, 1e-8):
        p, q = (0.6, 0.8), (0.6 * math.cos(d) - 0.8 * math.sin(d), 0.8 * math.cos(d) + 0.6 * math.sin(d))
        apart = mp.sqrt(sum((x - y) ** 2 for x, y in zip(exactly(p), exactly(q))))
        across = mp.sqrt(sum((x + y) ** 2 for x, y in zip(exactly(p), exactly(q))))
        exact = 2 * mp.atan2(apart, across)
        print(f"sphere: d = {d:g}: arccos<p,q> {error(math.acos(min(1.0, dot(p, q))), exact):.0e}")


def hyperboloid():
    def time(s, root):
        return root(1 + dot(s, s))

    for r in (1.0, 1e3, 5e5):
        for d in (1.0, 1e-6):
            # A step of length d at 45 degrees to the radius, rounded to doubles.
            out = mp.asinh(r)
            along, side = d / mp.sqrt(2), d / mp.sqrt(2)
            height = mp.asinh(mp.sinh(out + along) * mp.cosh(side))
            angle = mp.atan2(mp.sinh(side), mp.cosh(side) * mp.sinh(out + along))
            p = (r * 0.6, r * 0.8)
            turn = mp.atan2(0.8, 0.6) + angle
            q = (float(mp.sinh(height) * mp.cos(turn)), float(mp.sinh(height) * mp.sin(turn)))
            p_, q_ = exactly(p), exactly(q)
            exact = mp.acosh(time(p_, mp.sqrt) * time(q_, mp.sqrt) - dot(p_, q_))
            p0, q0 = time(p, math.sqrt), time(q, math.sqrt)
            arcosh = math.acosh(max(1.0, p0 * q0 - dot(p, q)))
            chord = (q[0] - p[0]) ** 2 + (q[1] - p[1]) ** 2 - (q0 - p0) ** 2
            squares = 2 * math.asinh(math.sqrt(max(chord, 0.0)) / 2)
            print(f"hyperboloid: |p| = {r:g}, d = {d:g}: arcosh {error(arcosh, exact):.0e}, "
                  f"difference of squares {error(squares, exact):.0e}")


def divergences():
    for e in (1e-2, 1e-5, 1e-8):
        u, w = 0.3 * (1 + e), 0.3
        u_, w_ = mpf(u), mpf(w)
        relative = error(u * math.log(u / w) - u + w, u_ * mp.log(u_ / w_) - u_ + w_)
        burg = error(u / w - math.log(u / w) - 1, u_ / w_ - mp.log(u_ / w_) - 1)
        print(f"divergences: u = w(1 + {e:g}): entropy {relative:.0e}, burg {burg:.0e}")


def permissible():
    for h in (10.0, 30.0, 40.0):
        h_ = mpf(h)
        tail = error(1 - 1 / (1 + math.exp(-h)), 1 / (1 + mp.exp(h_)))
        loss = error(math.log(1 + math.exp(-h)), mp.log(1 + mp.exp(-h_)))
        print(f"permissible: H = {h:g}: entropy, 1 - probability {tail:.0e}, loss {loss:.0e}")
    for h in (1e2, 1e4, 1e6):
        h_ = mpf(h)
        tail = error(0.5 * (1 - h / math.sqrt(1 + h * h)), (1 - h_ / mp.sqrt(1 + h_ * h_)) / 2)
        loss = error(math.sqrt(1 + h * h) - h, mp.sqrt(1 + h_ * h_) - h_)
        print(f"permissible: H = {h:g}: matsushita, 1 - probability {tail:.0e}, loss {loss:.0e}")


def spd():
    # ln of the eigenvalues of X^-1 Y, Y = X(1 + 1e-12): 1 + mu is rounded before its logarithm is taken.
    for mu in (1e-6, 1e-12):
        print(f"spd: mu = {mu:g}: ln(1 + mu) {error(math.log(1.0 + mu), mp.log1p(mpf(mu))):.0e}")


for part in (sphere, hyperboloid, spd, divergences, permissible):
    part()
