/* SPDX-License-Identifier: MIT
** base/buf.c: the growing text buffer.
**
** Appending never raises: a failure is remembered and reported once by
** dt_buf_ok().  Numbers are written independent of the locale's habits as
** long as LC_NUMERIC is "C", which the program never changes. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/ctx.h"
#include "base/mem_int.h"
#include "base/testing.h"

void dt_buf_init (DtBuf *b, DtCtx *cx) {
  b->cx = cx;
  b->s = NULL;
  b->len = b->cap = 0;
  b->oom = false;
}

void dt_buf_fini (DtBuf *b) {
  dt_free(b->cx, b->s);
  dt_buf_init(b, b->cx);
}

void dt_buf_clear (DtBuf *b) {
  b->len = 0;
  b->oom = false;
  if (b->s != NULL)
    b->s[0] = '\0';
}

/* Room for `n` more bytes and the final 0? */
static bool buf_room (DtBuf *b, size_t n) {
  size_t cap = b->cap > 0 ? b->cap : (size_t)DT_BUF_FIRST;
  char *s;
  if (b->oom)
    return false;
  if (n < b->cap - b->len)        /* cap == len only when both are 0 */
    return true;
  if (n >= (size_t)PTRDIFF_MAX - b->len) {
    b->oom = true;
    return false;
  }
  while (cap <= b->len + n)
    cap *= 2;
  s = dt_mem_realloc_quiet(b->cx, b->s, cap);
  if (s == NULL) {
    b->oom = true;
    return false;
  }
  b->s = s;
  b->cap = cap;
  return true;
}

void dt_buf_addn (DtBuf *b, const char *s, size_t n) {
  if (!buf_room(b, n))
    return;
  if (n > 0)
    memcpy(b->s + b->len, s, n);
  b->len += n;
  b->s[b->len] = '\0';
}

void dt_buf_add (DtBuf *b, const char *s) {
  dt_buf_addn(b, s, strlen(s));
}

void dt_buf_addc (DtBuf *b, char c) {
  dt_buf_addn(b, &c, 1);
}

void dt_buf_addv (DtBuf *b, const char *fmt, va_list ap) {
  va_list again;
  int n;
  va_copy(again, ap);
  n = vsnprintf(NULL, 0, fmt, ap);
  if (n >= 0 && buf_room(b, (size_t)n)) {
    (void)vsnprintf(b->s + b->len, (size_t)n + 1, fmt, again);
    b->len += (size_t)n;
  }
  va_end(again);
}

void dt_buf_addf (DtBuf *b, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  dt_buf_addv(b, fmt, ap);
  va_end(ap);
}

/* The fewest digits that read back as x, as d.ddde[+-]xx in `s`.  Fifteen
** digits name every shorter decimal, except where doubles are subnormal.
** At a power of two the doubles above lie wider than those below, so the
** next decimal up may do where the nearest does not (a last digit 9 would
** make it a shorter one, tried before). */
static void float_digits (double x, char *s, size_t n) {
  int p = fabs(x) < DBL_MIN ? 1 : 15;
  for (; p <= 17; p++) {
    (void)snprintf(s, n, "%.*e", p - 1, x);
    if (strtod(s, NULL) == x)
      return;
    if (p == 16 && s[p] != '9') {
      s[p]++;
      if (strtod(s, NULL) == x)
        return;
    }
  }
}

/* Python switches to an exponent below 1e-4 and from 1e16 on. */
void dt_buf_add_pyfloat (DtBuf *b, double x) {
  char s[40], digits[24];
  int n = 0, exp10;
  const char *p;
  if (isnan(x)) { dt_buf_add(b, "nan"); return; }
  if (signbit(x)) { dt_buf_addc(b, '-'); x = -x; }
  if (isinf(x)) { dt_buf_add(b, "inf"); return; }
  if (!(x > 0)) { dt_buf_add(b, "0.0"); return; }
  float_digits(x, s, sizeof s);
  for (p = s; *p != 'e'; p++) {
    if (*p != '.')
      digits[n++] = *p;
  }
  exp10 = (int)strtol(p + 1, NULL, 10);
  while (n > 1 && digits[n - 1] == '0')
    n--;
  if (exp10 < -4 || exp10 >= 16) {
    dt_buf_addc(b, digits[0]);
    if (n > 1) {
      dt_buf_addc(b, '.');
      dt_buf_addn(b, digits + 1, (size_t)n - 1);
    }
    dt_buf_addf(b, "e%c%02d", exp10 < 0 ? '-' : '+', abs(exp10));
  } else if (exp10 < 0) {
    dt_buf_addf(b, "0.%.*s%.*s", -exp10 - 1, "0000", n, digits);
  } else if (n > exp10 + 1) {
    dt_buf_addf(b, "%.*s.%.*s", exp10 + 1, digits, n - exp10 - 1,
                digits + exp10 + 1);
  } else {
    dt_buf_addf(b, "%.*s%.*s.0", n, digits, exp10 + 1 - n,
                "0000000000000000");
  }
}

static void add_list (DtBuf *b, const int64_t *v, int n) {
  int i;
  for (i = 0; i < n; i++)
    dt_buf_addf(b, "%s%lld", i > 0 ? ", " : "", (long long)v[i]);
}

void dt_buf_add_i64s (DtBuf *b, const int64_t *v, int n) {
  dt_buf_addc(b, '[');
  add_list(b, v, n);
  dt_buf_addc(b, ']');
}

void dt_buf_add_tuple (DtBuf *b, const int64_t *v, int n) {
  dt_buf_addc(b, '(');
  add_list(b, v, n);
  dt_buf_add(b, n == 1 ? ",)" : ")");
}

const char *dt_buf_str (const DtBuf *b) {
  return b->s != NULL ? b->s : "";
}

DtStatus dt_buf_ok (const DtBuf *b) {
  if (b->oom)
    return dt_raise(b->cx, DT_E_NOMEM, "out of memory: text of %zu bytes",
                    b->len);
  return DT_OK;
}
