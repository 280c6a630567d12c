/* SPDX-License-Identifier: MIT
** kernel/pw_float_int.h: helpers of the float expressions in pw_*.def, for
** the type T of the including file.  No include guard. */

#define K(c) ((T)(c))
#define S(f) (T)dt_sp_##f
#define NONE K(0)
#define PICK(f, i, z) (f)
/* Extremes that keep a NaN, and the first operand when equal. */
#define FMAXN(x, y) ((x) != (x) ? (x) : (!((y) <= (x)) ? (y) : (x)))
#define FMINN(x, y) ((x) != (x) ? (x) : (!((y) >= (x)) ? (y) : (x)))

/* A function that grows as e^|x| and is computed from it: infinite as soon as
** e^|x| is, though its own value would fit. */
static inline T G(fgrown) (T x, T v) {
  if (sizeof(T) == 8 || !(M(fabs)(x) > K(88.72283935546875))) return v;
  return v != v ? v : M(copysign)((T)INFINITY, v);
}

/* Second derivative of lgamma: reflection below 1/2, six steps up, then the
** asymptotic series, all in T as the rounding shows. */
static inline T G(ftrigamma) (T x) {
  const T pi = K(3.14159265358979323846);
  T sign = 1, r = 0;
  if (x < K(0.5)) {
    T s = M(sin)(pi * x);
    sign = -1;
    r -= (pi * pi) / (s * s);
    x = 1 - x;
  }
  for (int i = 0; i < 6; i++) {
    r += 1 / (x * x);
    x += 1;
  }
  T q = 1 / (x * x);
  r += (1 + 1 / (2 * x) + q * (K(1) / 6 - q * (K(1) / 30 - q * (K(1) / 42)))) /
       x;
  return sign * r;
}

static inline T G(fpow) (T x, T e) {
  if (e == 2) return x * x;
  if (e == 3) return x * x * x;
  if (e == K(0.5)) return M(sqrt)(x);
  if (e == K(-0.5)) return K(1) / M(sqrt)(x);
  if (e == -1) return K(1) / x;
  if (e == -2) return K(1) / (x * x);
  return M(pow)(x, e);
}

static inline T G(fsquare) (T x) { return x * x; }

static inline T G(fround) (T x, T decimals) {
  T ten = M(pow)(K(10), M(fabs)(decimals));
  return decimals < 0 ? M(rint)(x / ten) * ten : M(rint)(x * ten) / ten;
}

static inline T G(fclamp) (T x, T lo, T hi, int which) {
  T r = x;
  if (which & 1) r = FMAXN(r, lo);
  if (which & 2) r = FMINN(r, hi);
  return r;
}

static inline T G(fdivfloor) (T a, T b) {
  if (b == 0) return a / b;
  T mod = M(fmod)(a, b), div = (a - mod) / b;
  if (mod != 0 && (b < 0) != (mod < 0)) div -= 1;
  if (div == 0) return M(copysign)(K(0), a / b);
  T fl = M(floor)(div);
  return div - fl > K(0.5) ? fl + 1 : fl;
}

static inline T G(fremainder) (T a, T b) {
  T mod = M(fmod)(a, b);
  return mod != 0 && (b < 0) != (mod < 0) ? mod + b : mod;
}

static inline T G(fisclose) (T x, T y, T rtol, T atol, bool equal_nan) {
  T diff = M(fabs)(x - y), allowed = atol + M(fabs)(rtol * y);
  if (equal_nan && x != x && y != y) return 1;
  return (T)(x == y || (diff < INFINITY && diff <= allowed));
}

static inline T G(flogaddexp) (T x, T y) {
  if (M(fabs)(x) == INFINITY && x == y) return x;
  T m = x > y ? x : y;
  return m + M(log1p)(M(exp)(-M(fabs)(x - y)));
}

static inline T G(flogaddexp2) (T x, T y) {
  if (M(fabs)(x) == INFINITY && x == y) return x;
  T m = x > y ? x : y;
  return m + M(log1p)(M(exp2)(-M(fabs)(x - y))) * K(1.4426950408889634);
}

static inline T G(flerp) (T a, T b, T w) {
  return M(fabs)(w) < K(0.5) ? a + w * (b - a) : b - (b - a) * (K(1) - w);
}

static inline T G(fsigmoid) (T x) { return K(1) / (K(1) + G(fexp)(-x)); }

static inline T G(fdsigmoid) (T x) {
  T s = G(fsigmoid)(x);
  return s * (K(1) - s);
}

/* PyTorch's kernel for 16-bit types rounds after each operation. */
static inline T G(flogit) (T x, T eps, int kb) {
  if (eps >= 0) {
    T low = G(fnarrow)(eps, kb), high = G(fnarrow)(K(1) - low, kb);
    x = x < low ? low : x > high ? high : x;
  }
  return M(log)(G(fnarrow)(x / G(fnarrow)(K(1) - x, kb), kb));
}

static inline T G(flogit_bwd) (T g, T x, T eps, int kb) {
  if (eps >= 0) {
    T low = G(fnarrow)(eps, kb);
    if (!(x >= low && x <= G(fnarrow)(K(1) - low, kb))) return 0;
  } else if (x < 0 || x > 1) {
    return NAN;
  } else if (x == 0) {
    return g * (T)INFINITY;             /* -0.0 is no negative number here */
  }
  return g / G(fnarrow)(x * G(fnarrow)(K(1) - x, kb), kb);
}

/* ---- gelu, silu, mish ---------------------------------------------------- */

/* sqrt(2 / pi) and the cubic coefficient of the tanh form. */
#define GELU_B K(0.7978845608028654)
#define GELU_C K(0.044715)

static inline T G(fgelu_tanh) (T x) {
  T in = GELU_B * (x + GELU_C * x * x * x);
  return K(0.5) * x * (K(1) + G(ftanh)(in));
}

static inline T G(fgelu_bwd) (T g, T x) {
  T cdf = K(0.5) * (K(1) + G(ferf)(x * K(0.7071067811865476)));
  T pdf = G(fexp)(x * x * K(-0.5)) * K(0.3989422804014327);
  return g * (cdf + x * pdf);
}

static inline T G(fgelu_tanh_bwd) (T g, T x) {
  T t = G(ftanh)(GELU_B * (x + GELU_C * x * x * x));
  T dt = (K(1) - t * t) * GELU_B * (K(1) + K(3) * GELU_C * x * x);
  return g * (K(0.5) * (K(1) + t) + K(0.5) * x * dt);
}

static inline T G(fsilu_bwd) (T g, T x) {
  T s = G(fsigmoid)(x);
  return g * s * (K(1) + x * (K(1) - s));
}

static inline T G(fmish_bwd) (T g, T x) {
  T t = G(ftanh)(M(log1p)(M(exp)(x))), s = G(fsigmoid)(x);
  return g * (t + x * s * (K(1) - t * t));
}

static inline T G(felu_bwd) (T g, T y, T alpha, T scale, T in, bool result) {
  T neg = alpha * scale;
  if (!(y <= 0)) return g * scale;      /* NaN passes the gradient on */
  if (result) return g * in * (y + neg);
  return g * in * neg * M(exp)(y * in);
}

static inline T G(flogsig_bwd) (T g, T x, T z) {
  T max_deriv = x < 0 ? K(1) : K(0), sign = x < 0 ? K(1) : K(-1);
  return g * (max_deriv - sign * (z / (K(1) + z)));
}

/* ---- losses --------------------------------------------------------------- */

static inline T G(fhuber) (T d, T delta) {
  T a = M(fabs)(d);
  return a <= delta ? K(0.5) * a * a : delta * (a - K(0.5) * delta);
}

static inline T G(fhuber_bwd) (T d, T delta) {
  return d <= -delta ? -delta : (d >= delta ? delta : d);
}

static inline T G(fsmooth_l1) (T d, T beta) {
  T a = M(fabs)(d);
  return a < beta ? K(0.5) * a * a / beta : a - K(0.5) * beta;
}

static inline T G(fsmooth_l1_bwd) (T d, T beta) {
  return d <= -beta ? K(-1) : (d >= beta ? K(1) : d / beta);
}

/* log is kept above -100. */
static inline T G(fbce) (T x, T y) {
  T a = M(log1p)(-x), b = M(log)(x);
  a = a < K(-100) ? K(-100) : a;
  b = b < K(-100) ? K(-100) : b;
  return (y - K(1)) * a - y * b;
}

static inline T G(fbce_logits) (T x, T y) {
  T ls = FMINN(x, K(0)) - M(log1p)(M(exp)(-M(fabs)(x)));
  return (K(1) - y) * x - ls;
}

static inline T G(fkl_div) (T x, T y, bool log_target) {
  if (log_target) return M(exp)(y) * (y - x);
  T e = y != y ? y : (y == 0 ? K(0) : y * M(log)(y));
  return e - y * x;
}
