# SPDX-License-Identifier: MIT
"""numbers: classes of numbers by what they can do; Python's own are of them."""
import abc


class Number(abc.ABC):
    __slots__ = ()


class Complex(Number):
    __slots__ = ()


class Real(Complex):
    __slots__ = ()


class Rational(Real):
    __slots__ = ()


class Integral(Rational):
    __slots__ = ()


Complex.register(complex)
Real.register(float)
Integral.register(int)
