/* SPDX-License-Identifier: MIT
** repl/complete.c: what Tab offers: commands after ':', their arguments
** (complete_arg.c), help pages after '?', operators after "dt.ops.",
** dimensions in mesh["...], keywords in braces, and Lua's names.
** Nothing is run for it (repl_names.c). */
#include "repl/complete.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static bool path_char (char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '.' || c == ':';
}

static void offer_commands (DtRepl *r, const char *before, const char *prefix,
                            DtLineAdd add, void *sink) {
  int it = 0;
  const DtCmd *c;
  char name[32], full[40];
  size_t n = strlen(prefix);
  while ((c = dt_cmd_next(&it)) != NULL) {
    if (strncmp(dt_cmd_name(c, name), prefix, n) != 0)
      continue;
    size_t k = strlen(before);
    memcpy(full, before, k);
    memcpy(full + k, name, strlen(name) + 1);
    add(sink, full);
  }
  dt_user_commands(r->L, before, prefix, add, sink);
}

/* What there are pages on, but for operators and Lua's names. */
static void offer_topics (DtRepl *r, const char *prefix, DtLineAdd add,
                          void *sink) {
  const char *s;
  size_t n = strlen(prefix);
  offer_commands(r, "", prefix, add, sink);
  for (int i = 0; (s = dt_help_topic(i)) != NULL; i++)
    if (strncmp(s, prefix, n) == 0)
      add(sink, s);
  if (n == 0) return;
  for (DtStatus st = dt_error_next(DT_OK); st != DT_OK; st = dt_error_next(st))
    if (strncmp(dt_error_info(st)->id, prefix, n) == 0)
      add(sink, dt_error_info(st)->id);
  dt_complete_ops(r, prefix, add, sink);
}

/* "dt.ops.aten.m": packets of the registry, which Lua's tables may not hold
** yet. */
static void offer_operators (DtRepl *r, const char *path, const char *prefix,
                             DtLineAdd add, void *sink) {
  static const char base[] = "dt.ops.";
  if (strncmp(path, base, sizeof base - 1) != 0)
    return;
  const char *ns = path + sizeof base - 1;
  size_t nns = strcspn(ns, "."), n = strlen(prefix);
  if (ns[nns] != '.' || ns[nns + 1] != '\0')
    return;
  int it = 0;
  const DtPacket *p;
  while ((p = dt_registry_next(r->cx, r->s->registry, &it)) != NULL) {
    if (strlen(p->ns) != nns || memcmp(p->ns, ns, nns) != 0 ||
        strncmp(p->base, prefix, n) != 0)
      continue;
    DtBuf b;
    dt_buf_init(&b, r->cx);
    dt_buf_addf(&b, "%s%s", path, p->base);
    if (!b.oom)
      add(sink, dt_buf_str(&b));
    dt_buf_fini(&b);
  }
}

/* Tensors by name at the time that is looked at. */
static void past_names (DtRepl *r, const char *prefix, DtLineAdd add,
                        void *sink) {
  enum { MAX = 200 };
  const DtRecName *name[MAX];
  DtDebug *d = dt_debug_of(r->s);
  const DtRecOp *op = dt_record_find(d, r->past);
  int n = op != NULL ? dt_record_names(d, op->seq, name, MAX) : 0;
  for (int i = 0; i < n; i++)
    if (strncmp(name[i]->name, prefix, strlen(prefix)) == 0 &&
        dt_record_name(d, op->scope, name[i]->name, op->seq) == name[i]->var)
      add(sink, name[i]->name);
}

/* Names in the prompt's language, and operators. */
static void offer_names (DtRepl *r, const char *word, size_t n, DtLineAdd add,
                         void *sink) {
  size_t cut = n;
  while (cut > 0 && word[cut - 1] != '.' && word[cut - 1] != ':')
    cut--;
  char *path = dt_strndup(r->cx, word, cut);
  char *prefix = dt_strndup(r->cx, word + cut, n - cut);
  if (path != NULL && prefix != NULL) {
    if (r->past != 0 && cut == 0)
      past_names(r, prefix, add, sink);
    if (r->set.python)
      dt_python_names(r->L, path, prefix, add, sink);
    else
      dt_names_lua(r->L, path, prefix, add, sink);
    offer_operators(r, path, prefix, add, sink);
  }
  dt_free(r->cx, path);
  dt_free(r->cx, prefix);
  dt_error_clear(r->cx);
}

/* Start of the path that ends before `at`. */
static int path_start (const char *line, int at) {
  while (at > 0 && path_char(line[at - 1]))
    at--;
  return at;
}

/* mesh["dp: the dimensions of a mesh. */
static bool offer_dimensions (DtRepl *r, const char *line, int i, int point,
                              DtLineAdd add, void *sink) {
  int q = i - 1;
  if (q < 1 || (line[q] != '"' && line[q] != '\'') || line[q - 1] != '[')
    return false;
  int from = path_start(line, q - 1);
  char *path = dt_strndup(r->cx, line + from, (size_t)(q - 1 - from));
  char *prefix = dt_strndup(r->cx, line + i, (size_t)(point - i));
  if (path != NULL && prefix != NULL)
    dt_names_mesh(r->L, path, prefix, add, sink);
  dt_free(r->cx, path);
  dt_free(r->cx, prefix);
  dt_error_clear(r->cx);
  return true;
}

/* f(x, {dim: the keywords of the operator `name`. */
static void of_packet (const DtPacket *p, const char *prefix, DtLineAdd add,
                       void *sink) {
  char full[80];
  for (int o = 0; o < p->n; o++) {
    const DtSchema *s = p->op[o]->sig;
    for (int a = 0; s != NULL && a < s->nargs; a++) {
      const char *name = s->arg[a].name;
      bool before = false;      /* an earlier overload has it */
      for (int e = 0; e < o && !before; e++)
        for (int b = 0; p->op[e]->sig != NULL && b < p->op[e]->sig->nargs; b++)
          before |= strcmp(p->op[e]->sig->arg[b].name, name) == 0;
      if (before || strncmp(name, prefix, strlen(prefix)) != 0 ||
          strlen(name) > 70 || strcmp(name, "self") == 0)
        continue;
      snprintf(full, sizeof full, "%s = ", name);
      add(sink, full);
    }
  }
}

/* Keywords at the beginning of f{…} or f(…, {…}, read backwards from the word
** that is typed: the line is not finished, so no parser takes it.  Both walks
** count brackets and stop at the first that is open.  False even when some were
** offered: what stands there may be a value, whose names are offered as well. */
static bool offer_keywords (DtRepl *r, const char *line, int i, int point,
                            DtLineAdd add, void *sink) {
  int at = i - 1, depth = 0;
  while (at >= 0 && line[at] == ' ')
    at--;
  if (at < 0 || (line[at] != '{' && line[at] != ','))
    return false;
  for (; at >= 0; at--) {       /* the brace we are in */
    if (strchr(")}]", line[at]) != NULL)
      depth++;
    else if (strchr("({[", line[at]) != NULL && depth-- == 0)
      break;
  }
  if (at < 0 || line[at] != '{')
    return false;
  int open = at - 1;            /* f{...} or f(..., {...}) */
  if (open < 0 || !path_char(line[open])) {
    for (depth = 0; open >= 0; open--) {
      if (strchr(")}]", line[open]) != NULL)
        depth++;
      else if (strchr("({[", line[open]) != NULL && depth-- == 0)
        break;
    }
    if (open < 0 || line[open] != '(')
      return false;
    open--;
  }
  int end = open + 1, from = end;
  while (from > 0 && (isalnum((unsigned char)line[from - 1]) ||
                      line[from - 1] == '_'))
    from--;
  char *prefix = dt_strndup(r->cx, line + i, (size_t)(point - i));
  int it = 0;
  bool known = false;           /* an operator; else a page may know it */
  const DtPacket *p;
  while (prefix != NULL &&
         (p = dt_registry_next(r->cx, r->s->registry, &it)) != NULL)
    if (strcmp(p->ns, "aten") == 0 &&
        strlen(p->base) == (size_t)(end - from) &&
        memcmp(p->base, line + from, (size_t)(end - from)) == 0) {
      of_packet(p, prefix, add, sink);
      known = true;
    }
  char *path = known ? NULL : dt_strndup(r->cx, line + path_start(line, end),
                                         (size_t)(end - path_start(line, end)));
  if (path != NULL && prefix != NULL)
    dt_names_keywords(r->L, path, prefix, add, sink);
  dt_free(r->cx, path);
  dt_free(r->cx, prefix);
  dt_error_clear(r->cx);
  return false;                 /* values may be there too */
}

void dt_complete (void *ud, const char *line, int point, int *start,
                  DtLineAdd add, void *sink) {
  DtRepl *r = ud;
  int first = (int)strspn(line, " \t");
  int i = point;
  while (i > 0 && path_char(line[i - 1]))
    i--;
  if (line[first] == ':' && i <= first) {
    *start = first;
    char *p = dt_strndup(r->cx, line + first + 1, (size_t)(point - first - 1));
    if (p != NULL)
      offer_commands(r, ":", p, add, sink);
    dt_free(r->cx, p);
    return;
  }
  if (line[first] == ':' && dt_complete_arg(r, line, point, start, add, sink))
    return;
  *start = i;
  if (offer_dimensions(r, line, i, point, add, sink))
    return;
  (void)offer_keywords(r, line, i, point, add, sink);
  if (line[first] == '?' || strncmp(line + first, ":help ", 6) == 0) {
    char *p = dt_strndup(r->cx, line + i, (size_t)(point - i));
    if (p != NULL)
      offer_topics(r, p, add, sink);
    dt_free(r->cx, p);
  }
  offer_names(r, line + i, (size_t)(point - i), add, sink);
}

/* ---- from Lua ---- */

static void list_word (void *sink, const char *word) {
  dt_buf_add(sink, word);
  dt_buf_addc(sink, '\n');
}

/* For editors: the words as a list without repeats, and where in the line they
** begin. */
int dt_complete_lua (lua_State *L) {
  DtRepl *r = dtL_state(L)->stop_ud;
  size_t n;
  const char *line = luaL_checklstring(L, 1, &n);
  int start = 0, count = 0;
  DtBuf b;
  if (r == NULL)
    return dtL_errorf(L, DT_E_RUNTIME, "there is no shell");
  dt_buf_init(&b, r->cx);
  dt_complete(r, line, (int)n, &start, list_word, &b);
  if (dt_buf_ok(&b) != DT_OK) {
    dt_buf_fini(&b);
    return dtL_raise(L);
  }
  dtL_push_buf(L, &b);          /* the buffer's end */
  const char *s = lua_tostring(L, -1);
  lua_newtable(L);
  lua_newtable(L);              /* those listed already */
  for (; *s != '\0'; s += strcspn(s, "\n") + 1) {
    lua_pushlstring(L, s, strcspn(s, "\n"));
    lua_pushvalue(L, -1);
    lua_pushvalue(L, -1);
    if (lua_rawget(L, -4) != LUA_TNIL) {
      lua_pop(L, 3);
      continue;
    }
    lua_pop(L, 1);
    lua_pushboolean(L, 1);
    lua_rawset(L, -4);
    lua_rawseti(L, -3, ++count);
  }
  lua_pop(L, 1);
  lua_pushinteger(L, start);
  return 2;
}
