/* SPDX-License-Identifier: MIT
** debug/bp_read.c: a breakpoint from what was typed, with what is wrong. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_tool.h"
#include "debug/bp_int.h"

typedef struct Parse { DtControl *c; DtBreak b; const char *s; } Parse;

static void skip_spaces (Parse *p) {
  while (isspace((unsigned char)*p->s)) p->s++;
}

static char *read_word (Parse *p) {
  size_t n = strcspn(p->s, " \t");
  char *w = dt_strndup(p->c->d->s->cx, p->s, n);
  p->s += n;
  skip_spaces(p);
  return w;
}

static DtStatus raise_bad (Parse *p, const char *what) {
  return dt_raise(p->c->d->s->cx, DT_E_COMMAND, "%s, not \"%s\"", what, p->s);
}

/* "1M", "64k", "100". */
static DtStatus parse_bytes (Parse *p) {
  char *end;
  double v = strtod(p->s, &end);
  if (end == p->s || v < 0 || v > 1e15)
    return raise_bad(p, "wanted a number of bytes as 100, 64k, 1M, 2G after >");
  switch (tolower((unsigned char)*end)) {
    case 'k': v *= 1 << 10; end++; break;
    case 'm': v *= 1 << 20; end++; break;
    case 'g': v *= 1 << 30; end++; break;
    default: break;
  }
  if (*end == 'B' || *end == 'b') end++;
  p->b.num = (int64_t)v;
  p->s = end;
  skip_spaces(p);
  return DT_OK;
}

static DtStatus parse_redistribute (Parse *p) {
  p->b.num = -1;
  while (*p->s) {
    if (*p->s == '>') {
      p->s++;
      skip_spaces(p);
      DT_TRY(p->c->d->s->cx, parse_bytes(p));
    } else if (strncmp(p->s, "implicit", 8) == 0) {
      p->b.implicit = true;
      p->s += 8;
      skip_spaces(p);
    } else return raise_bad(p, "redistribute takes > BYTES and implicit");
  }
  return DT_OK;
}

static DtStatus parse_collective (Parse *p) {
  if (strcmp(p->s, "on") == 0)
    return raise_bad(p, "wanted a mesh dimension after on");
  if (*p->s && strncmp(p->s, "on ", 3) != 0) p->b.arg = read_word(p);
  if (strncmp(p->s, "on ", 3) == 0) {
    p->s += 3;
    skip_spaces(p);
    if (*p->s == 0) return raise_bad(p, "wanted a mesh dimension after on");
    p->b.arg2 = read_word(p);
  }
  return DT_OK;
}

/* "P(sum)" or "x = P(sum)": a placement, of any tensor or of one variable.
** What is stored is the text; parsing here only makes sure that it will be
** understood when it is compared. */
static DtStatus parse_placement (Parse *p) {
  DtCtx *cx = p->c->d->s->cx;
  const char *eq = strchr(p->s, '=');
  DtPlacement pl[DT_MAX_MDIM];
  size_t n;
  int npl;
  if (eq == p->s || *p->s == 0)
    return raise_bad(p, "wanted placements, as P, or a variable's, as "
                        "x = P(sum)");
  if (eq != NULL) {
    for (n = (size_t)(eq - p->s); n > 0 && p->s[n - 1] == ' '; ) n--;
    p->b.arg = dt_strndup(cx, p->s, n);
    p->s = eq + 1;
    skip_spaces(p);
  }
  if (dt_pls_parse(cx, p->s, pl, DT_MAX_MDIM, &npl) != DT_OK || npl == 0) {
    dt_error_clear(cx);
    return raise_bad(p, "wanted placements as P(sum) or S(0) R");
  }
  p->b.arg2 = dt_strdup(cx, p->s);
  p->s += strlen(p->s);
  return DT_OK;
}

/* "repro.lua:14", "14": a place in the script. */
static DtStatus parse_line (Parse *p) {
  DtCtx *cx = p->c->d->s->cx;
  const char *colon = strrchr(p->s, ':');
  const char *num = colon ? colon + 1 : p->s;
  char *end;
  long line = strtol(num, &end, 10);
  if (end == num || *end != 0 || line <= 0 || line > 100000000)
    return raise_bad(p, "wanted FILE:LINE, a function of the "
                        "program, or a kind of breakpoint (:help break)");
  p->b.num = line;
  if (colon) p->b.arg = dt_strndup(cx, p->s, (size_t)(colon - p->s));
  else if (p->c->at && p->c->at->file)
    p->b.arg = dt_strdup(cx, p->c->at->file);
  p->s += strlen(p->s);
  return DT_OK;
}

static DtStatus parse_args (Parse *p) {
  const char *name = p->b.kind->name;
  if (strcmp(name, "line") == 0) return parse_line(p);
  if (strcmp(name, "redistribute") == 0) return parse_redistribute(p);
  if (strcmp(name, "collective") == 0) return parse_collective(p);
  if (strcmp(name, "placement") == 0) return parse_placement(p);
  if (*p->s && *p->b.kind->args) p->b.arg = read_word(p);
  else if (*p->b.kind->args && p->b.kind->args[0] != '[')
    return dt_raise(p->c->d->s->cx, DT_E_COMMAND, "%s wants %s: %s",
                    p->b.kind->name, p->b.kind->args, p->b.kind->text);
  return DT_OK;
}

static const DtBpKind *find_kind (const char *s) {
  size_t n = strcspn(s, " \t");
  const DtBpKind *k;
  int i;
  for (i = 0; (k = dt_bp_kind(i)) != NULL; i++)
    if (strlen(k->name) == n && strncmp(k->name, s, n) == 0) return k;
  return NULL;
}

/* What would never hit is an error: a collective that nothing is called, an
** error code that does not exist, what is no name of a variable. */

/* What collectives do, each once. */
static void add_collectives (DtBuf *b) {
  const DtCollName *k, *before;
  int i, j;
  for (i = 0; (k = dt_coll_name(i)) != NULL; i++) {
    for (j = 0; (before = dt_coll_name(j)) != k; j++)
      if (strcmp(before->does, k->does) == 0) break;
    if (before == k) dt_buf_addf(b, "%s%s", i ? ", " : "", k->does);
  }
}

static DtStatus check_collective (DtControl *c, const DtBreak *b) {
  const DtCollName *k;
  DtBuf all;
  DtStatus st;
  int i;
  if (b->arg == NULL) return DT_OK;
  for (i = 0; (k = dt_coll_name(i)) != NULL; i++)
    if (dt_bp_coll_matches(b->arg, k->name)) return DT_OK;
  dt_buf_init(&all, c->d->s->cx);
  add_collectives(&all);
  st = dt_raise(c->d->s->cx, DT_E_COMMAND, "no collective is called %s; "
                "there are %s", b->arg, dt_buf_str(&all));
  dt_buf_fini(&all);
  return st;
}

static DtStatus check_error (DtControl *c, const DtBreak *b) {
  if (b->arg == NULL || dt_error_find(b->arg) != DT_OK) return DT_OK;
  return dt_raise(c->d->s->cx, DT_E_COMMAND, "no error has the code %s (one "
                  "has: DT0101, or MIXED)", b->arg);
}

static DtStatus check_variable (DtControl *c, const DtBreak *b) {
  const char *s = b->arg;
  if (s == NULL) return DT_OK;          /* placement, of any result */
  if (isalpha((unsigned char)*s) || *s == '_')
    while (isalnum((unsigned char)*s) || *s == '_' || *s == '.') s++;
  DT_CHECK(c->d->s->cx, s != b->arg && *s == 0, DT_E_COMMAND, "\"%s\" is no "
           "name of a variable", b->arg);
  return DT_OK;
}

/* An overload by its whole name, or by that without "aten.". */
static bool names_overload (DtSession *s, const char *name) {
  char full[256];
  snprintf(full, sizeof full, "aten.%s", name);
  return dt_registry_find(s->cx, s->registry, name) != NULL ||
         dt_registry_find(s->cx, s->registry, full) != NULL;
}

/* Steps of the library that go by the name of an operator of PyTorch's. */
static bool names_step (const char *glob) {
  static const char *const steps[] = {
    "fsdp.all_gather_copy_in.default", "fsdp.split_with_sizes_copy.default",
    "fsdp.chunk_cat.default", "fsdp.chunk_cat_mixed_dtype.default",
    "torchao.float8.wide"
  };
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
    if (dt_bp_op_matches(glob, steps[i])) return true;
  return false;
}

/* Does the operator exist?  A pattern that no operator matches would never
** hit. */
static DtStatus check_op (DtControl *c, const DtBreak *b) {
  DtSession *s = c->d->s;
  const DtPacket *pk;
  const char *near[3];
  int it = 0, n;
  while ((pk = dt_registry_next(s->cx, s->registry, &it)) != NULL) {
    char full[256];
    snprintf(full, sizeof full, "%s.%s.default", pk->ns, pk->base);
    if (dt_bp_op_matches(b->arg, full)) return DT_OK;
  }
  if (names_overload(s, b->arg) || names_step(b->arg)) return DT_OK;
  dt_error_clear(s->cx);
  if (strpbrk(b->arg, "*?") && strchr(b->arg, '.') &&
      strncmp(b->arg, "aten.", 5) != 0) return DT_OK;   /* a user's, later */
  if (strstr(b->arg, "redistribute") || strstr(b->arg, "distribute_tensor"))
    return DT_OK;
  n = dt_registry_near(s->cx, s->registry, b->arg, near, 3);
  return dt_raise(s->cx, DT_E_COMMAND, "no operator is called %s%s%s%s",
                  b->arg, n ? "; did you mean " : "", n ? near[0] : "",
                  n ? "?" : "");
}

static DtStatus check_break (DtControl *c, const DtBreak *b) {
  const char *kind = b->kind->name;
  if (strcmp(kind, "op") == 0) return check_op(c, b);
  if (strcmp(kind, "collective") == 0) return check_collective(c, b);
  if (strcmp(kind, "error") == 0) return check_error(c, b);
  if (strcmp(kind, "watch") == 0 || strcmp(kind, "placement") == 0)
    return check_variable(c, b);
  return DT_OK;
}

/* A breakpoint's text: [KIND] ARGS [if CONDITION]. The condition is cut off
** first, since arguments run to the end of the text. A first word that is no
** kind makes it the default kind, an operator. */
static DtStatus parse_break (Parse *p, const char *text) {
  DtCtx *cx = p->c->d->s->cx;
  const char *cond = strstr(text, " if ");
  size_t n = cond ? (size_t)(cond - text) : strlen(text);
  char *head;
  DtStatus st;
  if (cond) DT_TRY(cx, dt_bp_set_cond(p->c, &p->b, cond + 4));
  while (n > 0 && isspace((unsigned char)text[n - 1])) n--;
  p->b.text = dt_strndup(cx, text, n);
  head = p->b.text;
  if (head == NULL) return DT_E_NOMEM;
  p->s = head;
  skip_spaces(p);
  p->b.num = -1;
  p->b.kind = find_kind(p->s);
  if (p->b.kind) {
    p->s += strlen(p->b.kind->name);
    skip_spaces(p);
  } else p->b.kind = dt_bp_kind(0);
  st = parse_args(p);
  if (st == DT_OK && *p->s)
    st = dt_raise(cx, DT_E_COMMAND, "%s takes %s, not \"%s\"",
                  p->b.kind->name,
                  *p->b.kind->args ? p->b.kind->args : "nothing more", p->s);
  if (st == DT_OK && cx->err.code == DT_E_NOMEM) st = DT_E_NOMEM;
  if (st == DT_OK) st = check_break(p->c, &p->b);
  return st;
}


DtStatus dt_bp_read (DtControl *c, const char *text, DtBreak *out) {
  Parse p;
  DtStatus st;
  memset(&p, 0, sizeof p);
  p.c = c;
  st = parse_break(&p, text);
  *out = p.b;
  return st;
}
