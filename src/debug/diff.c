/* SPDX-License-Identifier: MIT
** debug/diff.c: two records side by side: two runs, two placements, two
** worlds.  Operators are compared in their order; the first that differs is
** shown with what differs, and after it only sums, since from there on
** everything may follow from it. */
#include <string.h>
#include "debug/dump.h"

enum { MAX_SHOWN = 6 };

/* Operators that take part. */
static int count_ops (const DtRecord *k) {
  int n = k->n;
  while (n > 0 && dt_record_of(k, n - 1)->seq <= k->since) n--;
  return n;
}

static void add_up (const DtRecord *k, DtRecSum *s) {
  int i, j, n = count_ops(k);
  memset(s, 0, sizeof *s);
  s->ops = n;
  for (i = 0; i < n; i++) {
    const DtRecOp *r = dt_record_of(k, i);
    s->colls += r->ncoll;
    for (j = 0; j < r->ncoll; j++) s->bytes += r->coll[j].bytes_in;
  }
}

static void print_var (const DtRecVar *v, DtBuf *b) {
  if (v->none) dt_buf_add(b, "None");
  else if (v->spec) { dt_buf_add(b, "dt: "); dt_spec_print(v->spec, b); }
  else { dt_buf_add(b, "t: "); dt_meta_print(v->meta, b); }
}

/* Placements and meta; meshes by shape, since two runs have their own. */
static bool same_layout (const DtRecVar *a, const DtRecVar *b) {
  if (a->none != b->none) return false;
  if (a->none) return true;
  if (a->meta->dtype != b->meta->dtype ||
      !dt_meta_same_shape(a->meta, b->meta)) return false;
  if ((a->spec == NULL) != (b->spec == NULL)) return false;
  return a->spec == NULL ||
         (a->spec->npl == b->spec->npl &&
          dt_pls_equal(a->spec->pl, b->spec->pl, a->spec->npl));
}

/* Known to hold other bytes?  Contiguous parts only are compared. */
static bool other_values (const DtRecVar *a, const DtRecVar *b) {
  size_t es, n = 1;
  int d;
  if (a->none || !a->block || !b->block || a->lndim != b->lndim ||
      a->marks != b->marks) return false;
  es = dt_dtype_size((DtDtype)a->meta->dtype);
  for (d = a->lndim - 1; d >= 0; d--) {
    if (a->lshape[d] != b->lshape[d]) return true;
    if (a->lshape[d] != 1 && (a->lstride[d] != (int64_t)n ||
                              b->lstride[d] != (int64_t)n)) return false;
    n *= (size_t)a->lshape[d];
  }
  if (((size_t)a->offset + n) * es > a->block->nbytes ||
      ((size_t)b->offset + n) * es > b->block->nbytes) return false;
  return memcmp((const char *)a->block->data + (size_t)a->offset * es,
                (const char *)b->block->data + (size_t)b->offset * es,
                n * es) != 0;
}

/* The two records, and what they are called. */
typedef struct Pair { const DtRecord *x, *y; const char *name[2]; } Pair;

static int diff_vars (const char *what, const DtRecOp *x, const DtRecOp *y,
                      bool results, const Pair *p, DtBuf *out) {
  const char *const *name = p->name;
  int i, found = 0;
  int nx = results ? x->nout : x->nin, ny = results ? y->nout : y->nin;
  const DtRecVar *vx = results ? x->out : x->in;
  const DtRecVar *vy = results ? y->out : y->in;
  if (nx != ny) {
    dt_buf_addf(out, "  %ss: %d and %d\n", what, nx, ny);
    return 1;
  }
  for (i = 0; i < nx && found < MAX_SHOWN; i++) {
    if (!same_layout(&vx[i], &vy[i])) {
      dt_buf_addf(out, "  %s %d\n    %s  ", what, i, name[0]);
      print_var(&vx[i], out);
      dt_buf_addf(out, "\n    %s  ", name[1]);
      print_var(&vy[i], out);
      dt_buf_addc(out, '\n');
      found++;
    } else if (other_values(&vx[i], &vy[i]) &&
               !(dt_record_blank(p->x, &vx[i]) &&
                 dt_record_blank(p->y, &vy[i]))) {
      dt_buf_addf(out, "  %s %d holds other values: ", what, i);
      print_var(&vx[i], out);
      dt_buf_addc(out, '\n');
      found++;
    }
  }
  return found;
}

static bool same_colls (const DtRecOp *x, const DtRecOp *y) {
  int i;
  if (x->ncoll != y->ncoll) return false;
  for (i = 0; i < x->ncoll; i++)
    if (strcmp(x->coll[i].coll, y->coll[i].coll) != 0 ||
        strcmp(x->coll[i].mdim, y->coll[i].mdim) != 0 ||
        x->coll[i].bytes_in != y->coll[i].bytes_in) return false;
  return true;
}

static void print_colls (const char *name, const DtRecOp *r, DtBuf *out) {
  dt_buf_addf(out, "    %s  ", name);
  if (r->ncoll) dt_record_print_colls(r, out);
  else dt_buf_add(out, "none");
  dt_buf_addc(out, '\n');
}

static int diff_op (const DtRecOp *x, const DtRecOp *y, const Pair *p,
                    DtBuf *out) {
  const char *const *name = p->name;
  int found = 0;
  if (strcmp(x->label, y->label) != 0) {
    dt_buf_addf(out, "  operator\n    %s  %s\n    %s  %s\n", name[0],
                x->label, name[1], y->label);
    return 1;
  }
  found += diff_vars("input", x, y, false, p, out);
  if (x->op && y->op && x->nin == y->nin && !dt_args_equal(&x->args, &y->args)
      && x->op == y->op) {
    dt_buf_add(out, "  arguments differ\n");
    found++;
  }
  if (!same_colls(x, y)) {
    dt_buf_add(out, "  collectives\n");
    print_colls(name[0], x, out);
    print_colls(name[1], y, out);
    found++;
  }
  if (x->st != y->st) {
    dt_buf_addf(out, "  outcome\n    %s  %s\n    %s  %s\n", name[0],
                x->st ? dt_error_info(x->st)->text : "fine", name[1],
                y->st ? dt_error_info(y->st)->text : "fine");
    found++;
  }
  return found + diff_vars("result", x, y, true, p, out);
}

static void print_place (const DtRecOp *x, const DtRecOp *y,
                         const char *const *name, DtBuf *out) {
  dt_buf_addf(out, "first difference at %s  ", x->label);
  dt_buf_addf(out, "%s #%lld", name[0], (long long)x->seq);
  if (x->line > 0) dt_buf_addf(out, " %s:%d", x->file, x->line);
  dt_buf_addf(out, ", %s #%lld", name[1], (long long)y->seq);
  if (y->line > 0) dt_buf_addf(out, " %s:%d", y->file, y->line);
  dt_buf_addc(out, '\n');
}

void dt_record_diff (DtDebug *d, const DtRecord *x, const char *xname,
                     const DtRecord *y, const char *yname, DtBuf *out,
                     DtRecDiff *res) {
  const Pair pair = { x, y, { xname, yname } };
  const char *const *name = pair.name;
  int nx = count_ops(x), ny = count_ops(y), n = nx < ny ? nx : ny, i;
  DtBuf what;
  memset(res, 0, sizeof *res);
  res->same = nx == ny;
  dt_buf_init(&what, d->s->cx);
  for (i = 0; i < n; i++) {
    const DtRecOp *p = dt_record_of(x, nx - 1 - i);
    const DtRecOp *q = dt_record_of(y, ny - 1 - i);
    if (diff_op(p, q, &pair, &what) == 0) continue;
    print_place(p, q, name, out);
    dt_buf_add(out, dt_buf_str(&what));
    res->same = false;
    res->at[0] = p;
    res->at[1] = q;
    break;
  }
  if (i == n && nx != ny)
    dt_buf_addf(out, "the first %d operators are equal; then %s has %d more\n",
                n, nx > ny ? xname : yname,
                nx > ny ? nx - n : ny - n);
  else if (i == n) dt_buf_addf(out, "no difference in %d operators\n", n);
  res->equal = i;
  add_up(x, &res->sum[0]);
  add_up(y, &res->sum[1]);
  dt_buf_addf(out, "%-12s %8s %12s %14s\n", "", "ops", "collectives",
              "bytes/rank");
  for (i = 0; i < 2; i++)
    dt_buf_addf(out, "%-12s %8lld %12lld %14lld\n", name[i],
                (long long)res->sum[i].ops, (long long)res->sum[i].colls,
                (long long)res->sum[i].bytes);
  dt_buf_fini(&what);
}
