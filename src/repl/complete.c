/* SPDX-License-Identifier: MIT
** repl/complete.c: what Tab offers: commands after ':', their arguments,
** help pages after '?', operators after "dt.ops.", and Lua's names. */
#include "repl/cmd.h"

#include <ctype.h>
#include <string.h>

static bool path_char (char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '.' || c == ':';
}

static void commands (const char *before, const char *prefix, DtLineAdd add,
                      void *sink) {
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
}

/* "dt.ops.aten.m": packets of the registry, which Lua's tables may not hold
** yet. */
static void operators (DtRepl *r, const char *path, const char *prefix,
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

static void lua_names (DtRepl *r, const char *word, size_t n, DtLineAdd add,
                       void *sink) {
  size_t cut = n;
  while (cut > 0 && word[cut - 1] != '.' && word[cut - 1] != ':')
    cut--;
  char *path = dt_strndup(r->cx, word, cut);
  char *prefix = dt_strndup(r->cx, word + cut, n - cut);
  if (path != NULL && prefix != NULL) {
    dt_names_lua(r->L, path, prefix, add, sink);
    operators(r, path, prefix, add, sink);
  }
  dt_free(r->cx, path);
  dt_free(r->cx, prefix);
  dt_error_clear(r->cx);
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
      commands(":", p, add, sink);
    dt_free(r->cx, p);
    return;
  }
  *start = i;
  if (line[first] == '?' || strncmp(line + first, ":help ", 6) == 0) {
    char *p = dt_strndup(r->cx, line + i, (size_t)(point - i));
    if (p != NULL)
      commands("", p, add, sink);
    dt_free(r->cx, p);
  }
  lua_names(r, line + i, (size_t)(point - i), add, sink);
}
