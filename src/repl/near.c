/* SPDX-License-Identifier: MIT
** repl/near.c: "did you mean", for names in Lua that are not there.
**
** Works on the report of the error, which quotes the name and says what kind
** it was; the owner of a field is not known, so the tables people use are
** asked in order of nearness.  Raw access only, as for completion. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "repl/cmd.h"

enum { MOST = 3, WORD = 30 };

typedef struct Near {
  const char *name; size_t n;
  int limit;
  bool exact;                   /* the very name will do: it was looked for
                                ** elsewhere */
  int count;
  int far[MOST];
  char word[MOST][2 * WORD];
  size_t before;                /* bytes of a candidate before its last name */
} Near;

/* Is `last` the last name of `word`, "dt.nn.Linear"? */
static bool ends_with (const char *word, const char *last, size_t n) {
  size_t all = strlen(word);
  return all >= n && strcmp(word + all - n, last) == 0 &&
         (all == n || word[all - n - 1] == '.');
}

/* Keep the nearest; of those as near, by the alphabet: tables have no order. */
static void offer_word (void *sink, const char *word) {
  Near *k = sink;
  const char *last = word + k->before;
  size_t n = strlen(last);
  int d, at;
  if (n == 0 || n > WORD || strlen(word) >= sizeof k->word[0])
    return;
  d = dt_word_distance(k->name, k->n, last, n);
  if ((d == 0 && !k->exact) || d > k->limit)
    return;
  for (int i = 0; i < k->count; i++)
    if (ends_with(k->word[i], last, n))
      return;
  for (at = k->count; at > 0 && (k->far[at - 1] > d ||
       (k->far[at - 1] == d && strcmp(k->word[at - 1], word) > 0)); at--)
    if (at < MOST) {
      k->far[at] = k->far[at - 1];
      memcpy(k->word[at], k->word[at - 1], sizeof k->word[0]);
    }
  if (at == MOST)
    return;
  k->far[at] = d;
  memcpy(k->word[at], word, strlen(word) + 1);
  if (k->count < MOST)
    k->count++;
}

static void from_path (lua_State *L, const char *path, Near *k) {
  k->before = strlen(path);
  dt_names_lua(L, path, "", offer_word, k);
}

/* What a function of dt lists (1: the Near, 2: its name): names that are not
** loaded yet, attributes of tensors. */
static int offer_listed (lua_State *L) {
  Near *k = lua_touserdata(L, 1);
  char full[2 * WORD];
  if (lua_getfield(L, LUA_REGISTRYINDEX, "dt") != LUA_TTABLE ||
      lua_getfield(L, -1, lua_tostring(L, 2)) != LUA_TFUNCTION)
    return 0;
  lua_call(L, 0, 1);
  for (int i = 1; lua_rawgeti(L, -1, i) == LUA_TSTRING; i++) {
    const char *s = lua_tostring(L, -1);
    if (strlen(s) < WORD) {
      snprintf(full, sizeof full, k->before > 0 ? "dt.%s" : "%s", s);
      offer_word(k, full);
    }
    lua_pop(L, 1);
  }
  return 0;
}

static void from_list (lua_State *L, const char *f, size_t before, Near *k) {
  k->before = before;
  lua_pushcfunction(L, offer_listed);
  lua_pushlightuserdata(L, k);
  lua_pushstring(L, f);
  if (lua_pcall(L, 2, 0, 0) != LUA_OK)
    lua_pop(L, 1);
}

/* Operators are methods of tensors and functions of dt. */
static void from_operators (DtRepl *r, const char *before, Near *k) {
  char full[2 * WORD];
  int it = 0;
  const DtPacket *p;
  k->before = strlen(before);
  while ((p = dt_registry_next(r->cx, r->s->registry, &it)) != NULL)
    if (strcmp(p->ns, "aten") == 0 && strlen(p->base) < WORD &&
        p->base[0] != '_') {
      snprintf(full, sizeof full, "%s%s", before, p->base);
      offer_word(k, full);
    }
}

static void from_dt (lua_State *L, DtRepl *r, Near *k) {
  from_path(L, "dt.", k);
  from_list(L, "_lazy_names", 3, k);
  from_operators(r, "dt.", k);
}

/* The name that follows `mark` in the report, up to a quote. */
static bool find_quoted (const char *s, const char *mark, Near *k) {
  const char *p = strstr(s, mark);
  if (p == NULL)
    return false;
  k->name = p + strlen(mark);
  k->n = strcspn(k->name, "'`\n");
  k->limit = k->n < 2 ? 0 : k->n < 5 ? 1 : 2;
  return k->n > 0 && k->n <= WORD && k->limit > 0;
}

/* Modules of dt are there once they are named. */
static int load_modules (lua_State *L) {
  if (lua_getfield(L, LUA_REGISTRYINDEX, "dt") == LUA_TTABLE) {
    lua_getfield(L, -1, "nn");
    lua_getfield(L, -2, "F");
    lua_getfield(L, -3, "optim");
  }
  return 0;
}

static bool name_char (char c) {
  return c == '_' || isalnum((unsigned char)c);
}

/* The path in front of ".name" or ":name" in the line typed, "nn." with its
** last sign: whose field it was. */
static bool find_owner (lua_State *L, const char *report, const Near *k,
                        char *path, size_t size) {
  const char *at = strstr(report, "prompt:");
  size_t n = 0;
  const char *s = at == NULL ? NULL
    : dtL_source_line(L, "prompt", (int)strtol(at + 7, NULL, 10), &n);
  for (size_t i = 1; s != NULL && i + k->n <= n; i++) {
    if ((s[i - 1] != '.' && s[i - 1] != ':') ||
        memcmp(s + i, k->name, k->n) != 0 ||
        (i + k->n < n && name_char(s[i + k->n])))
      continue;
    size_t from = i - 1;
    while (from > 0 && (name_char(s[from - 1]) || s[from - 1] == '.'))
      from--;
    if (from == i - 1 || i - from >= size)
      return false;
    memcpy(path, s + from, i - from);
    path[i - from] = '\0';
    return true;
  }
  return false;
}

/* The names of the very object come first; true when one is near. */
static bool from_owner (lua_State *L, DtRepl *r, const char *s, Near *k) {
  char path[WORD];
  if (!find_owner(L, s, k, path, sizeof path))
    return false;
  if (strcmp(path, "dt.") == 0)
    from_dt(L, r, k);
  else
    from_path(L, path, k);
  if (k->count == 0) {          /* nn and F are dt's, loaded when named */
    char full[WORD + 3];
    lua_pushcfunction(L, load_modules);
    if (lua_pcall(L, 0, 0, 0) != LUA_OK)
      lua_pop(L, 1);
    snprintf(full, sizeof full, "dt.%s", path);
    from_path(L, full, k);
  }
  return k->count > 0;
}

/* PyTorch's names as its imports leave them: zeros, Linear, without dt. */
static bool from_imports (lua_State *L, DtRepl *r, Near *k) {
  static const char *const modules[] = {"dt.nn.", "dt.F.", "dt.optim."};
  int limit = k->limit;
  k->limit = 0;
  k->exact = true;
  from_dt(L, r, k);
  if (k->count == 0) {
    lua_pushcfunction(L, load_modules);
    if (lua_pcall(L, 0, 0, 0) != LUA_OK)
      lua_pop(L, 1);
  }
  for (size_t i = 0; i < sizeof modules / sizeof modules[0]; i++)
    if (k->count == 0)
      from_path(L, modules[i], k);
  k->limit = limit;
  k->exact = false;
  return k->count > 0;
}

/* Is it what tensors have, spelled right?  Then it is nil: x.grad. */
static bool is_attribute (lua_State *L, const Near *k) {
  Near same = *k;
  same.limit = same.count = 0;
  same.exact = true;
  from_list(L, "_attr_names", 0, &same);
  return same.count > 0;
}

/* Names near the one that Lua's or PyTorch's message quotes, from where it was
** looked for: the globals, the owner of the field, else every module.  Short
** names are near to everything and get no answer unless the owner is known. */
static void search_names (lua_State *L, DtRepl *r, const char *s, Near *k) {
  static const char *const modules[] = {"dt.nn.", "dt.F.",
                                        "dt.optim.", "dt.debug.",
                                        "string.", "table.", "math."};
  bool nil = strstr(s, "a nil value") != NULL;
  if (nil && find_quoted(s, "(global '", k)) {
    if (k->n < 3 ||             /* everything is near */
        from_imports(L, r, k))
      return;
    from_path(L, "", k);
    if (k->count == 0)
      from_dt(L, r, k);
  } else if (nil && (find_quoted(s, "(field '", k) ||
                     find_quoted(s, "(method '", k)) &&
             from_owner(L, r, s, k)) {
    return;
  } else if (find_quoted(s, "Invalid mesh_dim_names ('", k)) {
    (void)from_owner(L, r, s, k);
  } else if (nil && k->n > 0 && (k->n < 3 ||      /* owner unknown */
                                 is_attribute(L, k))) {
    return;
  } else if (nil && find_quoted(s, "(field '", k)) {
    from_dt(L, r, k);
    lua_pushcfunction(L, load_modules);
    if (lua_pcall(L, 0, 0, 0) != LUA_OK)
      lua_pop(L, 1);
    for (size_t i = 0; i < sizeof modules / sizeof modules[0]; i++)
      from_path(L, modules[i], k);
  } else if ((nil && find_quoted(s, "(method '", k)) ||
             find_quoted(s, "Tensor' object has no attribute '", k)) {
    from_path(L, "dt.Tensor.", k);
    for (int i = 0; i < k->count; i++)          /* without the owner */
      memmove(k->word[i], k->word[i] + 10, strlen(k->word[i] + 10) + 1);
    from_list(L, "_attr_names", 0, k);
    from_operators(r, "", k);
  }
}

/* "FILE:2: attempt to call a nil value", and line 3 begins with a bracket: Lua
** took both for one statement. */
static void hint_bracket (lua_State *L, const char *s, DtBuf *diag) {
  const char *what = strstr(s, ": attempt to call a "), *from = what, *text;
  char file[512];
  int line = 0;
  size_t n = 0;
  while (from && from > s && isdigit((unsigned char)from[-1])) from--;
  if (from == NULL || from == what || from == s || from[-1] != ':') return;
  line = (int)strtol(from, NULL, 10);
  what = --from;
  while (from > s && from[-1] != ' ' && from[-1] != '\n') from--;
  snprintf(file, sizeof file, "%.*s", (int)(what - from), from);
  do
    text = dtL_source_line(L, file, ++line, &n);
  while (text && strspn(text, " \t") >= n);
  if (text && text[strspn(text, " \t")] == '(')
    dt_buf_addf(diag, "  line %d begins with a bracket: Lua calls what stands "
                "before it; put a ; in front\n", line);
}

void dt_near_hint (lua_State *L, DtBuf *diag, size_t from) {
  DtRepl *r = dtL_state(L)->stop_ud;
  Near k;
  memset(&k, 0, sizeof k);
  if (r == NULL || diag->oom || diag->len <= from)
    return;
  char *s = dt_strdup(r->cx, diag->s + from);
  if (s != NULL) {
    hint_bracket(L, s, diag);
    search_names(L, r, s, &k);
    for (int i = 0; i < k.count; i++)
      dt_buf_addf(diag, i > 0 ? ", %s" : "  did you mean %s", k.word[i]);
    if (k.count > 0)
      dt_buf_add(diag, "?\n");
  }
  dt_free(r->cx, s);
}
