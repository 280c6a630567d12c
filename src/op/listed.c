/* SPDX-License-Identifier: MIT
** op/listed.c: errors that list the signatures of a function of torch.
**
** The lists are PyTorch's own ("function" and "method" in the .ops texts of
** oplib, made by scripts/capture_signatures.py), so that deprecated and
** hidden ones are as there.  Under each stands why it did not match, where the
** numbers of arguments agree: PyTorch splits the text at the commas and counts
** the pieces, the star among them.
** Semantics: invalid_arguments.cpp, 2.13. */
#include "op/bind_int.h"

#include <string.h>

/* One piece of a signature: "int dim = 0", or "*". */
typedef struct Piece {
  const char *type, *name;
  size_t ntype, nname;
  bool optional, star;
} Piece;

enum { MAX_PIECES = 40 };

/* strcmp of base, or "Tensor." and base, with a row's name. */
static int compare (const char *base, bool method, const char *row) {
  static const char head[] = "Tensor.";
  size_t n = sizeof head - 1;
  int c = method ? strncmp(head, row, n) : 0;
  return c != 0 ? c : strcmp(base, method ? row + n : row);
}

const char *dt_listed_find (const char *base, bool method) {
  static const struct { const char *base, *lines; } rows[] = {
#define X(base, lines) { base, lines },
#include "op/signatures.def"
#undef X
  };
  size_t lo = 0, hi = sizeof rows / sizeof rows[0];
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    int c = compare(base, method, rows[mid].base);
    if (c == 0) return rows[mid].lines;
    if (c < 0) hi = mid;
    else lo = mid + 1;
  }
  return NULL;
}

/* ---- reading ---- */

static const char *find_in (const char *s, const char *end, const char *what) {
  size_t n = strlen(what);
  for (; s + n <= end; s++)
    if (strncmp(s, what, n) == 0) return s;
  return NULL;
}

static void read_piece (const char *s, const char *end, Piece *p) {
  const char *set = find_in(s, end, " = ");
  const char *stop = set != NULL ? set : end, *gap = stop;
  memset(p, 0, sizeof *p);
  p->star = stop - s == 1 && *s == '*';
  p->optional = set != NULL;
  while (gap > s && *gap != ' ') gap--;
  p->type = s;
  p->ntype = (size_t)(gap - s);
  p->name = gap + (gap > s);
  p->nname = (size_t)(stop - p->name);
}

/* The pieces of "(a, b, c)\n". */
static int read_line (const char *line, Piece *p) {
  const char *end = strchr(line, '\n') - 1, *s = line + 1;
  int n = 0;
  while (s < end && n < MAX_PIECES) {
    const char *comma = find_in(s, end, ", ");
    read_piece(s, comma != NULL ? comma : end, &p[n++]);
    s = comma != NULL ? comma + 2 : end;
  }
  return n;
}

void dt_listed_room (const char *line, int *min, int *max) {
  Piece p[MAX_PIECES];
  int n = read_line(line, p);
  *min = *max = 0;
  for (int i = 0; i < n; i++) {
    *max += !p[i].star;
    *min += !p[i].star && !p[i].optional;
  }
}

static bool is_named (const Piece *p, const char *name) {
  return strlen(name) == p->nname && strncmp(p->name, name, p->nname) == 0;
}

static bool is_type (const Piece *p, const char *type) {
  return strlen(type) == p->ntype && strncmp(p->type, type, p->ntype) == 0;
}

/* Type and name of a piece with a default, which reading leaves together. */
static void part_optional (Piece *p) {
  size_t n = p->ntype;
  if (!p->optional) return;
  while (n > 0 && p->type[n - 1] != ' ') n--;
  if (n == 0) return;
  p->name = p->type + n;
  p->nname = p->ntype - n;
  p->ntype = n - 1;
}

bool dt_listed_is (const char *line, const DtSchema *s, int self) {
  static const char *const word[] = { "Tensor", "Number", "int", "float",
                                      "bool", "str" };
  Piece p[MAX_PIECES];
  int n = read_line(line, p), given = s->nargs - s->nkwonly - self, i;
  for (i = 0; i < given; i++) {
    const DtArgDef *d = &s->arg[i + self];
    bool input = strcmp(d->name, "self") == 0 && d->type == DT_T_TENSOR;
    if (i < n) part_optional(&p[i]);
    if (i >= n || p[i].star || !is_named(&p[i], input ? "input" : d->name))
      return false;
    if (!d->list && d->type < sizeof word / sizeof word[0] &&
        !is_type(&p[i], word[d->type]))
      return false;
    if (d->list && strncmp(p[i].type, "tuple", 5) != 0) return false;
  }
  return i == n || p[i].star;
}

/* What only a factory lists, in place of which an out= form has its out. */
static bool is_factory_piece (const Piece *p) {
  return is_named(p, "dtype") || is_named(p, "layout") ||
         is_named(p, "device") || is_named(p, "pin_memory") ||
         is_named(p, "requires_grad");
}

bool dt_listed_has_out (const DtSchema *s) {
  const char *line = dt_listed_find(s->base, false);
  int inputs = 0;
  if (line == NULL) return true;
  for (int i = 0; i < s->nargs; i++)
    inputs += !(s->arg[i].kwonly && s->arg[i].write);
  for (; *line != '\0'; line = strchr(line, '\n') + 1) {
    Piece p[MAX_PIECES];
    int n = read_line(line, p), plain = 0, options = 0;
    bool out = false, factory = false;
    for (int i = 0; i < n; i++) {
      part_optional(&p[i]);
      out = out || is_named(&p[i], "out");
      factory = factory || is_named(&p[i], "layout");
      options += is_factory_piece(&p[i]);
      plain += !p[i].star && !is_named(&p[i], "out");
    }
    if (out && plain - (factory ? options : 0) == inputs) return true;
  }
  return false;
}

/* ---- why it did not match ---- */

/* No value's type is called "Number". */
static bool passes (const Piece *p, const DtValue *v) {
  Piece one = *p;
  if (v->kind == DT_V_INT && is_type(p, "float")) return true;
  if (v->kind != DT_V_LIST) return is_type(p, dt_value_pytype(v));
  if (strncmp(p->type, "tuple of ", 9) != 0 || v->u.list.n == 0) return false;
  one.type += 9;
  one.ntype -= 10;              /* without the plural */
  for (int i = 0; i < v->u.list.n; i++)
    if (!passes(&one, &v->u.list.v[i])) return false;
  return true;
}

static void add_given (const char *name, const DtValue *v, bool ok,
                       DtBuf *b) {
  dt_buf_addf(b, "%s%s%s%s", ok ? "" : "!", name != NULL ? name : "",
              name != NULL ? "=" : "", dt_value_pytype(v));
  if (v->kind == DT_V_LIST) {
    dt_buf_add(b, " of (");
    for (int i = 0; i < v->u.list.n; i++)
      dt_buf_addf(b, "%s%s", i > 0 ? ", " : "",
                  dt_value_pytype(&v->u.list.v[i]));
    dt_buf_add(b, v->u.list.n == 1 ? ",)" : ")");
  }
  dt_buf_add(b, ok ? "" : "!");
}

static int keyword (const DtBindCall *c, const Piece *p) {
  for (int k = 0; k < c->v.nkw; k++)
    if (is_named(p, c->v.kwname[k])) return k;
  return -1;
}

/* Keywords that the signature does not have, after `head`. */
static bool add_unknown (const DtBindCall *c, const Piece *p, int n,
                         const char *head, DtBuf *b) {
  int seen = 0;
  for (int k = 0; k < c->v.nkw; k++) {
    bool known = false;
    for (int i = 0; i < n; i++) known = known || is_named(&p[i], c->v.kwname[k]);
    if (!known)
      dt_buf_addf(b, "%s%s", seen++ == 0 ? head : ", ", c->v.kwname[k]);
  }
  return seen > 0;
}

/* Why one of the listed signatures did not match: only those that could have
** by their number of arguments are explained, as PyTorch does. */
static void add_why (const char *line, const DtBindCall *c, DtBuf *b) {
  Piece p[MAX_PIECES];
  int n = read_line(line, p);
  const DtValue *pos = c->v.pos + c->self;
  int npos = c->v.npos - c->self;
  if (n != npos + c->v.nkw) return;
  if (add_unknown(c, p, n, "      didn't match because some of the keywords "
                  "were incorrect: ", b)) {
    dt_buf_addc(b, '\n');
    return;
  }
  dt_buf_add(b, "      didn't match because some of the arguments have invalid "
             "types: (");
  for (int i = 0; i < n; i++) {
    int k = i < npos ? -1 : keyword(c, &p[i]);
    const DtValue *v = i < npos ? &pos[i] : k >= 0 ? &c->v.kw[k] : NULL;
    if (v == NULL) continue;
    if (i > 0) dt_buf_add(b, ", ");
    add_given(i < npos ? NULL : c->v.kwname[k], v, passes(&p[i], v), b);
  }
  dt_buf_add(b, ")\n");
}

/* ---- the error ---- */

/* The keyword whose name comes next after `last` (NULL: the first), -1. */
static int next_keyword (const DtBindCall *c, const char *last) {
  int best = -1;
  for (int i = 0; i < c->v.nkw; i++) {
    const char *name = c->v.kwname[i];
    if ((last == NULL || strcmp(name, last) > 0) &&
        (best < 0 || strcmp(name, c->v.kwname[best]) < 0))
      best = i;
  }
  return best;
}

/* Keywords come out of a Lua table in an order that is another on each rank:
** sorted, all ranks raise the same text. */
void dt_bind_print_got (const DtBindCall *c, DtBuf *b) {
  int npos = c->v.npos - c->self;
  for (int i = 0; i < npos; i++)
    dt_buf_addf(b, "%s%s", i > 0 ? ", " : "",
                dt_value_pytype(&c->v.pos[i + c->self]));
  for (int i = next_keyword(c, NULL); i >= 0;
       i = next_keyword(c, c->v.kwname[i]))     /* the comma as PyTorch sets it */
    dt_buf_addf(b, "%s%s=%s%s", npos > 0 ? ", " : "", c->v.kwname[i],
                dt_value_pytype(&c->v.kw[i]), npos > 0 ? "" : ", ");
}

DtStatus dt_listed_raise (DtCtx *cx, const char *base, const char *lines,
                          const DtBindCall *c) {
  const char *end = strchr(lines, '\n');
  bool one = end[1] == '\0';    /* the others are hidden */
  Piece p[MAX_PIECES];
  int n = read_line(lines, p);
  DtBuf b;
  dt_buf_init(&b, cx);
  dt_buf_addf(&b, "%s() received an invalid combination of arguments - got ",
              base);
  if (!one || !add_unknown(c, p, n, "unrecognized keyword arguments: ", &b)) {
    dt_buf_addc(&b, '(');
    dt_bind_print_got(c, &b);
    dt_buf_addf(&b, one ? "), but expected %.*s" : ")", (int)(end - lines),
                lines);
  }
  if (!one) {
    dt_buf_add(&b, ", but expected one of:\n");
    for (const char *s = lines; *s != '\0'; s = strchr(s, '\n') + 1) {
      dt_buf_addf(&b, " * %.*s\n", (int)(strchr(s, '\n') - s), s);
      add_why(s, c, &b);
    }
  }
  DtStatus st = dt_buf_ok(&b);
  if (st == DT_OK) st = dt_raise(cx, DT_E_TYPE, "%s", dt_buf_str(&b));
  dt_buf_fini(&b);
  return st;
}
