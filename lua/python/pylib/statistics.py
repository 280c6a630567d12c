# SPDX-License-Identifier: MIT
"""statistics: means and deviations of data, computed exactly and rounded once."""
import _absent
import math
from collections import Counter, namedtuple
from fractions import Fraction


class StatisticsError(ValueError):
    pass


def _checked(data, least, name):
    data = list(data)
    if len(data) < least:
        raise StatisticsError(
            f"{name} requires at least "
            + ("one data point" if least == 1 else "two data points"))
    return data


def _exact(x):
    if isinstance(x, float) and (math.isinf(x) or math.isnan(x)):
        raise _absent.error("statistics of infinity and nan are not part "
                            "of dtrepl")
    return Fraction(x)


def _is_decimal(x):
    return type(x).__name__ == "Decimal" and type(x).__module__ == "decimal"


def _as_decimal(value):
    from decimal import Decimal
    return Decimal(value.numerator) / Decimal(value.denominator)


def _root_like(value, data):
    """The square root of an exact value, a Decimal where the data are."""
    if any(_is_decimal(x) for x in data):
        return _as_decimal(value).sqrt()
    return _root(value)


def _like(value, data):
    """An exact value as a number of the data's type."""
    if any(isinstance(x, float) for x in data):
        return float(value)
    if any(isinstance(x, Fraction) for x in data):
        return value
    if any(_is_decimal(x) for x in data):
        return _as_decimal(value)
    return int(value) if value.denominator == 1 else float(value)


def _root(value):
    """The square root of a fraction, rounded once."""
    n, m = value.numerator, value.denominator
    if n == 0:
        return 0.0
    # A quotient with 2 * 55 bits at least: the root of its floor has 55, and
    # the last bit says whether anything was cut off.
    shift = max(0, (n.bit_length() - m.bit_length() - 110) // 2)
    grow = max(0, (m.bit_length() - n.bit_length() + 111) // 2 + 1)
    top, bottom = n << (2 * grow), m << (2 * shift)
    q = top // bottom
    r = math.isqrt(q)
    if r * r != q or q * bottom != top:
        r |= 1
    return math.ldexp(float(r), shift - grow) if r.bit_length() < 1000 else (
        float(Fraction(r) * Fraction(2) ** (shift - grow)))


def _mean(data):
    return sum(map(_exact, data), Fraction(0)) / len(data)


def _squares(data, around=None):
    around = _mean(data) if around is None else _exact(around)
    return sum(((_exact(x) - around) ** 2 for x in data), Fraction(0))


def mean(data):
    data = _checked(data, 1, "mean")
    return _like(_mean(data), data)


def fmean(data, weights=None):
    data = list(data)
    if weights is None:
        if not data:
            raise StatisticsError("fmean requires at least one data point")
        return math.fsum(data) / len(data)
    weights = list(weights)
    if len(weights) != len(data):
        raise StatisticsError("data and weights must be the same length")
    total = math.fsum(weights)
    if not total:
        raise StatisticsError("sum of weights must be non-zero")
    return math.fsum(w * x for w, x in zip(weights, data)) / total


def geometric_mean(data):
    try:
        return math.exp(fmean(map(math.log, data)))
    except ValueError:
        raise StatisticsError("geometric mean requires a non-empty dataset "
                              "containing positive numbers") from None


def harmonic_mean(data, weights=None):
    data = list(data)
    if not data:
        raise StatisticsError("harmonic_mean requires at least one data point")
    weights = [1] * len(data) if weights is None else list(weights)
    if any(x < 0 for x in data):
        raise StatisticsError("harmonic mean does not support negative values")
    if any(x == 0 for x in data):
        return 0
    total = sum(map(_exact, weights), Fraction(0))
    parts = [w / x for w, x in zip(weights, data)]
    return _like(total / sum(map(_exact, parts), Fraction(0)), parts)


def median(data):
    data = sorted(data)
    n = len(data)
    if n == 0:
        raise StatisticsError("no median for empty data")
    if n % 2:
        return data[n // 2]
    return (data[n // 2 - 1] + data[n // 2]) / 2


def median_low(data):
    data = sorted(data)
    if not data:
        raise StatisticsError("no median for empty data")
    return data[(len(data) - 1) // 2]


def median_high(data):
    data = sorted(data)
    if not data:
        raise StatisticsError("no median for empty data")
    return data[len(data) // 2]


def mode(data):
    pairs = Counter(iter(data)).most_common(1)
    if not pairs:
        raise StatisticsError("no mode for empty data")
    return pairs[0][0]


def multimode(data):
    counts = Counter(iter(data))
    if not counts:
        return []
    most = max(counts.values())
    return [value for value, count in counts.items() if count == most]


def variance(data, xbar=None):
    data = _checked(data, 2, "variance")
    return _like(_squares(data, xbar) / (len(data) - 1), data)


def pvariance(data, mu=None):
    data = _checked(data, 1, "pvariance")
    return _like(_squares(data, mu) / len(data), data)


def stdev(data, xbar=None):
    data = _checked(data, 2, "stdev")
    return _root_like(_squares(data, xbar) / (len(data) - 1), data)


def pstdev(data, mu=None):
    data = _checked(data, 1, "pstdev")
    return _root_like(_squares(data, mu) / len(data), data)


def quantiles(data, *, n=4, method="exclusive"):
    if n < 1:
        raise StatisticsError("n must be at least 1")
    data = sorted(data)
    size = len(data)
    if size < 2:
        raise StatisticsError("must have at least two data points")
    out = []
    if method == "inclusive":
        for i in range(1, n):
            j, delta = divmod(i * (size - 1), n)
            out.append((data[j] * (n - delta) + data[j + 1] * delta) / n)
        return out
    if method != "exclusive":
        raise ValueError(f"Unknown method: {method!r}")
    for i in range(1, n):
        j = min(max(i * (size + 1) // n, 1), size - 1)
        delta = i * (size + 1) - j * n
        out.append((data[j - 1] * (n - delta) + data[j] * delta) / n)
    return out


def median_grouped(data, interval=1.0):
    data = sorted(data)
    n = len(data)
    if not n:
        raise StatisticsError("no median for empty data")
    x = data[n // 2]
    before = sum(v < x for v in data)
    same = sum(v == x for v in data)
    low = float(x) - float(interval) / 2.0
    return low + float(interval) * (n / 2 - before) / same


# Wichura's AS 241, the percentage points of the normal distribution: the
# coefficients of quotients of two polynomials, for the middle and the tails.
_AS241 = (
    (2.5090809287301226727e+3, 3.3430575583588128105e+4,
     6.7265770927008700853e+4, 4.5921953931549871457e+4,
     1.3731693765509461125e+4, 1.9715909503065514427e+3,
     1.3314166789178437745e+2, 3.3871328727963666080e+0),
    (5.2264952788528545610e+3, 2.8729085735721942674e+4,
     3.9307895800092710610e+4, 2.1213794301586595867e+4,
     5.3941960214247511077e+3, 6.8718700749205790830e+2,
     4.2313330701600911252e+1, 1.0),
    (7.74545014278341407640e-4, 2.27238449892691845833e-2,
     2.41780725177450611770e-1, 1.27045825245236838258e+0,
     3.64784832476320460504e+0, 5.76949722146069140550e+0,
     4.63033784615654529590e+0, 1.42343711074968357734e+0),
    (1.05075007164441684324e-9, 5.47593808499534494600e-4,
     1.51986665636164571966e-2, 1.48103976427480074590e-1,
     6.89767334985100004550e-1, 1.67638483018380384940e+0,
     2.05319162663775882187e+0, 1.0),
    (2.01033439929228813265e-7, 2.71155556874348757815e-5,
     1.24266094738807843860e-3, 2.65321895265761230930e-2,
     2.96560571828504891230e-1, 1.78482653991729133580e+0,
     5.46378491116411436990e+0, 6.65790464350110377720e+0),
    (2.04426310338993978564e-15, 1.42151175831644588870e-7,
     1.84631831751005468180e-5, 7.86869131145613259100e-4,
     1.48753612908506148525e-2, 1.36929880922735805310e-1,
     5.99832206555887937690e-1, 1.0))


def _polynomial(coefficients, r):
    out = coefficients[0]
    for c in coefficients[1:]:
        out = out * r + c
    return out


def _inverse(p, mu, sigma):
    q = p - 0.5
    if math.fabs(q) <= 0.425:
        r = 0.180625 - q * q
        return mu + _polynomial(_AS241[0], r) * q / _polynomial(
            _AS241[1], r) * sigma
    r = math.sqrt(-math.log(p if q <= 0.0 else 1.0 - p))
    at, r = (2, r - 1.6) if r <= 5.0 else (4, r - 5.0)
    x = _polynomial(_AS241[at], r) / _polynomial(_AS241[at + 1], r)
    return mu + (-x if q < 0.0 else x) * sigma


class NormalDist:
    def __init__(self, mu=0.0, sigma=1.0):
        if sigma < 0.0:
            raise StatisticsError("sigma must be non-negative")
        self._mu, self._sigma = float(mu), float(sigma)

    @classmethod
    def from_samples(cls, data):
        data = list(data)
        return cls(fmean(data), stdev(data))

    mean = median = mode = property(lambda self: self._mu)
    stdev = property(lambda self: self._sigma)
    variance = property(lambda self: self._sigma * self._sigma)

    def _check(self, name):
        if not self._sigma:
            raise StatisticsError(f"{name}() not defined when sigma is zero")

    def pdf(self, x):
        self._check("pdf")
        variance = self._sigma * self._sigma
        diff = x - self._mu
        return math.exp(diff * diff / (-2.0 * variance)) / math.sqrt(
            math.tau * variance)

    def cdf(self, x):
        self._check("cdf")
        return 0.5 * (1.0 + math.erf((x - self._mu) / (
            self._sigma * math.sqrt(2.0))))

    def zscore(self, x):
        self._check("zscore")
        return (x - self._mu) / self._sigma

    def samples(self, n, *, seed=None):
        import random
        gauss = random.gauss if seed is None else random.Random(seed).gauss
        return [gauss(self._mu, self._sigma) for _ in range(n)]

    def __add__(self, other):
        if isinstance(other, NormalDist):
            return NormalDist(self._mu + other._mu, math.hypot(
                self._sigma, other._sigma))
        return NormalDist(self._mu + other, self._sigma)

    def __mul__(self, other):
        return NormalDist(self._mu * other, self._sigma * abs(other))

    __radd__, __rmul__ = __add__, __mul__

    def __eq__(self, other):
        if not isinstance(other, NormalDist):
            return NotImplemented
        return (self._mu, self._sigma) == (other._mu, other._sigma)

    def __hash__(self):
        return hash((self._mu, self._sigma))

    def __repr__(self):
        return f"NormalDist(mu={self._mu!r}, sigma={self._sigma!r})"

    def __sub__(self, other):
        if isinstance(other, NormalDist):
            return NormalDist(self._mu - other._mu, math.hypot(
                self._sigma, other._sigma))
        return NormalDist(self._mu - other, self._sigma)

    def __rsub__(self, other):
        return -(self - other)

    def __truediv__(self, other):
        return NormalDist(self._mu / other, self._sigma / abs(other))

    def __pos__(self):
        return NormalDist(self._mu, self._sigma)

    def __neg__(self):
        return NormalDist(-self._mu, self._sigma)

    def inv_cdf(self, p):
        if p <= 0.0 or p >= 1.0:
            raise StatisticsError("p must be in the range 0.0 < p < 1.0")
        if self._sigma <= 0.0:
            raise StatisticsError("cdf() not defined when sigma at or below "
                                  "zero")
        return _inverse(p, self._mu, self._sigma)

    def quantiles(self, n=4):
        return [self.inv_cdf(i / n) for i in range(1, n)]

    def overlap(self, other):
        if not isinstance(other, NormalDist):
            raise TypeError("Expected another NormalDist instance")
        a, b = self, other
        if (b._sigma, b._mu) < (a._sigma, a._mu):
            a, b = b, a
        va, vb = a.variance, b.variance
        if not va or not vb:
            raise StatisticsError("overlap() not defined when sigma is zero")
        dv, dm = vb - va, math.fabs(b._mu - a._mu)
        if not dv:
            return 1.0 - math.erf(dm / (2.0 * a._sigma * math.sqrt(2.0)))
        c = a._mu * vb - b._mu * va
        d = a._sigma * b._sigma * math.sqrt(
            dm * dm + dv * math.log(vb / va))
        x1, x2 = (c + d) / dv, (c - d) / dv
        return 1.0 - (math.fabs(b.cdf(x1) - a.cdf(x1))
                      + math.fabs(b.cdf(x2) - a.cdf(x2)))


def covariance(x, y, /):
    n = len(x)
    if len(y) != n:
        raise StatisticsError("covariance requires that both inputs have same "
                              "number of data points")
    if n < 2:
        raise StatisticsError("covariance requires at least two data points")
    xbar, ybar = math.fsum(x) / n, math.fsum(y) / n
    return math.fsum((xi - xbar) * (yi - ybar) for xi, yi in zip(x, y)) / (n - 1)


def correlation(x, y, /):
    n = len(x)
    if len(y) != n:
        raise StatisticsError("correlation requires that both inputs have same "
                              "number of data points")
    if n < 2:
        raise StatisticsError("correlation requires at least two data points")
    xbar, ybar = math.fsum(x) / n, math.fsum(y) / n
    sxy = math.fsum((xi - xbar) * (yi - ybar) for xi, yi in zip(x, y))
    sxx = math.fsum((d := xi - xbar) * d for xi in x)
    syy = math.fsum((d := yi - ybar) * d for yi in y)
    if not sxx * syy:
        raise StatisticsError("at least one of the inputs is constant")
    return sxy / math.sqrt(sxx * syy)


LinearRegression = namedtuple("LinearRegression", ("slope", "intercept"))


def linear_regression(x, y, /, *, proportional=False):
    n = len(x)
    if len(y) != n:
        raise StatisticsError("linear regression requires that both inputs "
                              "have same number of data points")
    if n < 2:
        raise StatisticsError("linear regression requires at least two data "
                              "points")
    xbar = ybar = 0.0
    if not proportional:
        xbar, ybar = math.fsum(x) / n, math.fsum(y) / n
        x, y = [xi - xbar for xi in x], [yi - ybar for yi in y]
    sxy = math.fsum(xi * yi for xi, yi in zip(x, y)) + 0.0
    sxx = math.fsum(xi * xi for xi in x)
    if not sxx:
        raise StatisticsError("x is constant")
    slope = sxy / sxx
    return LinearRegression(slope, 0.0 if proportional
                            else ybar - slope * xbar)
