/* SPDX-License-Identifier: MIT
** mesh/placement.c: placements: make, compare, hash, print, parse.
**
** A value type without allocation; whether a placement fits a tensor or a
** mesh is decided elsewhere.  Facts: placement_types.py, PyTorch 2.13. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "mesh/placement.h"

/* {==== Make and compare ==== */

static DtPlacement make (DtPlKind kind) {
  DtPlacement p;
  memset(&p, 0, sizeof p);
  p.kind = (uint8_t)kind;
  return p;
}

DtPlacement dt_pl_replicate (void) {
  return make(DT_PL_REPLICATE);
}

DtPlacement dt_pl_shard (int dim) {
  DtPlacement p = make(DT_PL_SHARD);
  p.dim = (int16_t)dim;
  return p;
}

DtPlacement dt_pl_strided (int dim, int64_t sf) {
  DtPlacement p = make(DT_PL_STRIDED);
  p.dim = (int16_t)dim;
  p.u.sf = sf;
  return p;
}

DtPlacement dt_pl_partial (DtRedOp op) {
  DtPlacement p = make(DT_PL_PARTIAL);
  p.op = (uint8_t)op;
  return p;
}

DtPlacement dt_pl_norm (double norm, bool is_int) {
  DtPlacement p = make(DT_PL_NORM_PARTIAL);
  p.op = DT_OP_SUM;
  p.norm_is_int = is_int;
  p.u.norm = norm;
  return p;
}

DtPlacement dt_pl_mask (DtRedOp op, DtMaskBuf *mask) {
  DtPlacement p = make(DT_PL_MASK_PARTIAL);
  p.op = (uint8_t)op;
  p.u.mask = mask;
  return p;
}

DtMaskBuf *dt_mask_new (DtCtx *cx, int ndim, const int64_t *shape, int dim) {
  DtMaskBuf *m;
  if (ndim > 8) {
    (void)dt_raise(cx, DT_E_LIMIT, "a mask has at most 8 dimensions");
    return NULL;
  }
  m = DT_NEW(cx, DtMaskBuf);
  if (m == NULL)
    return NULL;
  m->refs = 1;
  m->ndim = ndim;
  for (int i = 0; i < ndim; i++)
    m->shape[i] = shape[i];
  m->dim = dim;
  return m;
}

DtMaskBuf *dt_mask_ref (DtMaskBuf *m) {
  if (m != NULL)
    m->refs++;
  return m;
}

void dt_mask_unref (DtCtx *cx, DtMaskBuf *m) {
  if (m == NULL || --m->refs > 0)
    return;
  if (m->data != NULL && m->data_free != NULL)
    m->data_free(cx, m->data);
  dt_free(cx, m);
}

bool dt_pl_equal (DtPlacement a, DtPlacement b) {
  if (a.kind != b.kind)
    return false;
  switch ((DtPlKind)a.kind) {
    case DT_PL_REPLICATE: return true;
    case DT_PL_SHARD: return a.dim == b.dim;
    case DT_PL_STRIDED: return a.dim == b.dim && a.u.sf == b.u.sf;
    case DT_PL_PARTIAL: return a.op == b.op;
    case DT_PL_MASK_PARTIAL: return a.op == b.op && a.u.mask == b.u.mask;
    case DT_PL_NORM_PARTIAL:
      return isnan(a.u.norm) ? isnan(b.u.norm)
                             : a.u.norm <= b.u.norm && a.u.norm >= b.u.norm;
  }
  return false;
}

/* Equal placements hash alike.  The kind is in the highest byte, so that S(1) and
** P of operation 1 differ. */
uint64_t dt_pl_hash (uint64_t h, DtPlacement p) {
  uint64_t head = (uint64_t)p.kind, tail = 0;
  switch ((DtPlKind)p.kind) {
    case DT_PL_REPLICATE: break;
    case DT_PL_SHARD: tail = (uint64_t)(uint16_t)p.dim; break;
    case DT_PL_STRIDED:
      tail = (uint64_t)(uint16_t)p.dim ^ (uint64_t)p.u.sf << 16;
      break;
    case DT_PL_PARTIAL: tail = p.op; break;
    case DT_PL_MASK_PARTIAL:
      /* not the address: hashes must agree on all ranks */
      tail = p.op;
      break;
    case DT_PL_NORM_PARTIAL: {
      double x = p.u.norm + 0.0;        /* -0.0 is equal to 0.0 */
      memcpy(&tail, &x, sizeof tail);
      break;
    }
  }
  return dt_hash_u64(h, head << 56 ^ tail);
}

bool dt_pls_equal (const DtPlacement *a, const DtPlacement *b, int n) {
  for (int i = 0; i < n; i++)
    if (!dt_pl_equal(a[i], b[i]))
      return false;
  return true;
}

/* One reduction for all mesh dims, but sum and avg go together: averages are
** sums with a factor. */
DtStatus dt_pls_check_partials (DtCtx *cx, const DtPlacement *p, int n) {
  unsigned seen = 0;
  int first[DT_NREDOPS], k = 0;
  DtBuf b;
  for (int i = 0; i < n; i++)
    if (dt_pl_is_partial(p[i]) && (seen >> p[i].op & 1u) == 0) {
      seen |= 1u << p[i].op;
      first[k++] = p[i].op;
    }
  if (k <= 1 || seen == (1u << DT_OP_SUM | 1u << DT_OP_AVG))
    return DT_OK;
  dt_buf_init(&b, cx);
  for (int i = 0; i < k; i++)
    dt_buf_addf(&b, "%s'%s'", i > 0 ? ", " : "",
                dt_redop_name((DtRedOp)first[i]));
  DtStatus st = dt_raise(cx, DT_E_VALUE,
      "Mixed Partial reduce types are not supported in the same placement "
      "list. Found reduce ops: {%s}. Please ensure all Partial placements use "
      "the same reduce operation.", dt_buf_str(&b));
  dt_buf_fini(&b);
  return st;
}

/* }==== Print ==== */

static void print_norm (DtPlacement p, DtBuf *b) {
  if (p.norm_is_int)
    dt_buf_addf(b, "%lld", (long long)p.u.norm);
  else
    dt_buf_add_pyfloat(b, p.u.norm);
}

static void print_size (const DtMaskBuf *m, DtBuf *b) {
  if (m == NULL || m->ndim < 0)
    dt_buf_add(b, "None");
  else {
    dt_buf_add(b, "torch.Size(");
    dt_buf_add_i64s(b, m->shape, m->ndim);
    dt_buf_addc(b, ')');
  }
}

void dt_pl_print (DtPlacement p, DtBuf *b) {
  const DtMaskBuf *m;
  switch ((DtPlKind)p.kind) {
    case DT_PL_REPLICATE: dt_buf_addc(b, 'R'); break;
    case DT_PL_SHARD: dt_buf_addf(b, "S(%d)", p.dim); break;
    case DT_PL_STRIDED:
      dt_buf_addf(b, "_S(%d, %lld)", p.dim, (long long)p.u.sf);
      break;
    case DT_PL_PARTIAL:
      dt_buf_addf(b, "P(%s)", dt_redop_name((DtRedOp)p.op));
      break;
    case DT_PL_MASK_PARTIAL:
      m = p.u.mask;
      dt_buf_addf(b, "MaskP(%s", dt_redop_name((DtRedOp)p.op));
      if (m != NULL) {
        dt_buf_add(b, ", ");
        print_size(m, b);
        dt_buf_addf(b, ", %d", m->dim);
      }
      dt_buf_addc(b, ')');
      break;
    case DT_PL_NORM_PARTIAL:
      dt_buf_add(b, "_NormP(");
      print_norm(p, b);
      dt_buf_addc(b, ')');
      break;
  }
}

void dt_pl_repr (DtPlacement p, DtBuf *b) {
  const DtMaskBuf *m;
  switch ((DtPlKind)p.kind) {
    case DT_PL_REPLICATE: dt_buf_add(b, "Replicate()"); break;
    case DT_PL_SHARD: dt_buf_addf(b, "Shard(dim=%d)", p.dim); break;
    case DT_PL_STRIDED:
      dt_buf_addf(b, "_StridedShard(dim=%d, sf=%lld)", p.dim,
                  (long long)p.u.sf);
      break;
    case DT_PL_PARTIAL:
      dt_buf_addf(b, "Partial(%s)", dt_redop_name((DtRedOp)p.op));
      break;
    case DT_PL_MASK_PARTIAL:
      m = p.u.mask;
      dt_buf_addf(b, "_MaskPartial(reduce_op=%s, offset_shape=",
                  dt_redop_name((DtRedOp)p.op));
      print_size(m, b);
      dt_buf_addf(b, ", offset_dim=%d)", m != NULL ? m->dim : 0);
      break;
    case DT_PL_NORM_PARTIAL:
      dt_buf_add(b, "_NormPartial(");
      print_norm(p, b);
      dt_buf_addc(b, ')');
      break;
  }
}

void dt_pls_print (const DtPlacement *p, int n, DtBuf *b) {
  for (int i = 0; i < n; i++)
    dt_pl_print(p[i], b);
}

/* }==== Parse ==== */

typedef struct Parser {
  DtCtx *cx;
  const char *start, *p;
} Parser;

static DtStatus complain (Parser *r, const char *want) {
  return dt_raise(r->cx, DT_E_PARSE, "column %d: expected %s in \"%s\"",
                  (int)(r->p - r->start) + 1, want, r->start);
}

static void blanks (Parser *r) {
  while (isspace((unsigned char)*r->p))
    r->p++;
}

static bool eat (Parser *r, const char *word) {
  size_t n = strlen(word);
  blanks(r);
  if (strncmp(r->p, word, n) != 0)
    return false;
  r->p += n;
  return true;
}

/* An optional "name=" before an argument. */
static void eat_key (Parser *r, const char *key) {
  const char *save = r->p;
  if (!eat(r, key) || !eat(r, "="))
    r->p = save;
}

static DtStatus number (Parser *r, int64_t *out) {
  char *end;
  blanks(r);
  long long v = strtoll(r->p, &end, 10);
  if (end == r->p)
    return complain(r, "a number");
  r->p = end;
  *out = v;
  return DT_OK;
}

/* The limits are those of DtShardOrderEntry's int8_t. */
static DtStatus dim_number (Parser *r, int *out) {
  int64_t v = 0;
  const char *at = r->p;
  DT_TRY(r->cx, number(r, &v));
  if (v < -128 || v > 127) {
    r->p = at;
    return complain(r, "a tensor dimension");
  }
  *out = (int)v;
  return DT_OK;
}

static DtStatus close_paren (Parser *r) {
  return eat(r, ")") ? DT_OK : complain(r, "')'");
}

static DtStatus red_op (Parser *r, DtRedOp *op) {
  char word[16];
  size_t n = 0;
  char quote = 0;
  blanks(r);
  const char *at = r->p;
  if (*r->p == '"' || *r->p == '\'')
    quote = *r->p++;
  while (isalpha((unsigned char)*r->p) && n + 1 < sizeof word)
    word[n++] = *r->p++;
  word[n] = 0;
  *op = dt_redop_find(word);
  if (*op == DT_NREDOPS || (quote != 0 && *r->p != quote)) {
    r->p = at;
    return complain(r, "a reduction (sum, avg, min, max, product, ...)");
  }
  r->p += quote != 0;
  return DT_OK;
}

static DtStatus parse_shard (Parser *r, DtPlacement *out) {
  int dim = 0;
  if (!eat(r, "(")) {                         /* S0 */
    DT_TRY(r->cx, dim_number(r, &dim));
    *out = dt_pl_shard(dim);
    return DT_OK;
  }
  eat_key(r, "dim");
  DT_TRY(r->cx, dim_number(r, &dim));
  DT_TRY(r->cx, close_paren(r));
  *out = dt_pl_shard(dim);
  return DT_OK;
}

static DtStatus parse_strided (Parser *r, DtPlacement *out) {
  int dim = 0;
  int64_t sf = 1;
  if (!eat(r, "("))
    return complain(r, "'('");
  eat_key(r, "dim");
  DT_TRY(r->cx, dim_number(r, &dim));
  if (eat(r, ",")) {
    eat_key(r, "sf");
    eat_key(r, "split_factor");
    DT_TRY(r->cx, number(r, &sf));
  }
  DT_TRY(r->cx, close_paren(r));
  *out = dt_pl_strided(dim, sf);
  return DT_OK;
}

/* A mask's shape prints as torch.Size([4]): the ')' behind ']' closes that
** and not the placement. What was printed of a mask is skipped, since a mask
** is made by the operator that needs it and cannot be read back. */
static DtStatus parse_partial (Parser *r, bool mask, DtPlacement *out) {
  DtRedOp op = DT_OP_SUM;
  if (eat(r, "(") && !eat(r, ")")) {
    eat_key(r, "reduce_op");
    DT_TRY(r->cx, red_op(r, &op));
    if (mask && eat(r, ","))                  /* shape and dim are the mask's */
      while (*r->p != 0 && strcmp(r->p, ")") != 0 &&
             !(*r->p == ')' && r->p[-1] != ']'))
        r->p++;
    DT_TRY(r->cx, close_paren(r));
  }
  *out = mask ? dt_pl_mask(op, NULL) : dt_pl_partial(op);
  return DT_OK;
}

static DtStatus parse_norm (Parser *r, DtPlacement *out) {
  char *end;
  if (!eat(r, "("))
    return complain(r, "'('");
  blanks(r);
  double x = strtod(r->p, &end);
  if (end == r->p)
    return complain(r, "the order of a norm");
  bool is_int = true;
  for (const char *q = r->p; q < end; q++)
    if (!isdigit((unsigned char)*q) && *q != '-' && *q != '+')
      is_int = false;
  r->p = end;
  DT_TRY(r->cx, close_paren(r));
  *out = dt_pl_norm(x, is_int);
  return DT_OK;
}

/* Longer words first: "Shard" begins with "S". */
static DtStatus parse_one (Parser *r, DtPlacement *out) {
  if (eat(r, "_StridedShard") || eat(r, "_S"))
    return parse_strided(r, out);
  if (eat(r, "_NormPartial") || eat(r, "_NormP"))
    return parse_norm(r, out);
  if (eat(r, "_MaskPartial") || eat(r, "MaskP"))
    return parse_partial(r, true, out);
  if (eat(r, "Shard") || eat(r, "S"))
    return parse_shard(r, out);
  if (eat(r, "Partial") || eat(r, "P"))
    return parse_partial(r, false, out);
  if (eat(r, "Replicate")) {
    if (!eat(r, "("))
      return complain(r, "'('");
    DT_TRY(r->cx, close_paren(r));
    *out = dt_pl_replicate();
    return DT_OK;
  }
  if (eat(r, "R")) {
    *out = dt_pl_replicate();
    return DT_OK;
  }
  return complain(r, "a placement: S(dim), _S(dim, factor), R or P(op)");
}

DtStatus dt_pl_parse (DtCtx *cx, const char **s, DtPlacement *out) {
  Parser r = { cx, *s, *s };
  DtPlacement p;
  DT_TRY(cx, parse_one(&r, &p));
  *out = p;
  *s = r.p;
  return DT_OK;
}

DtStatus dt_pls_parse (DtCtx *cx, const char *s, DtPlacement *out, int max,
                       int *n) {
  Parser r = { cx, s, s };
  int k = 0;
  bool list = eat(&r, "[") || eat(&r, "(");
  char close[2] = { 0, 0 };
  if (list)
    close[0] = r.p[-1] == '[' ? ']' : ')';
  blanks(&r);
  while (*r.p != 0 && !(list && *r.p == close[0])) {
    if (k == max)
      return complain(&r, "no more placements");
    DT_TRY(cx, parse_one(&r, &out[k]));
    k++;
    if (eat(&r, ",")) {
      blanks(&r);
      if (*r.p == 0 && !list)
        return complain(&r, "a placement after ','");
    }
    blanks(&r);
  }
  if (list && !eat(&r, close))
    return complain(&r, close);
  blanks(&r);
  if (*r.p != 0)
    return complain(&r, "the end");
  *n = k;
  return DT_OK;
}

/* }==== */
