/* SPDX-License-Identifier: MIT
** repl/cmd_break.c: breakpoints at the prompt.  Each command calls the
** function of dt.debug that scripts call too. */
#include "base/file.h"
#include "bind/slots.h"
#include "repl/cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static DtControl *control_of (const DtCmdCall *c) {
  return dt_control_of(c->r->s);
}

static void show_kinds (DtBuf *out) {
  const DtBpKind *k;
  for (int i = 0; (k = dt_bp_kind(i)) != NULL; i++) {
    DtBuf head;
    dt_buf_init(&head, out->cx);
    dt_buf_addf(&head, "%s %s", k->name, k->args);
    if (i == 0) {
      dt_buf_clear(&head);
      dt_buf_add(&head, k->args);
    }
    dt_buf_addf(out, "  %-34s %s\n", dt_buf_str(&head), k->text);
    dt_buf_fini(&head);
  }
}

/* Is the argument's first word an operator?  Keeps the pending error. */
static bool names_operator (DtCmdCall *c) {
  DtSession *s = c->r->s;
  char word[128];
  snprintf(word, sizeof word, "%.*s", (int)strcspn(c->arg, " \t"), c->arg);
  int it = 0;
  const DtPacket *p;
  const char *base = strncmp(word, "aten.", 5) == 0 ? word + 5 : word;
  size_t n = strcspn(base, ".");
  while ((p = dt_registry_next(s->cx, s->registry, &it)) != NULL)
    if (strlen(p->base) == n && memcmp(p->base, base, n) == 0)
      return true;
  return false;
}

/* An operator, or a word that is nearly a kind of breakpoint: said behind the
** error. */
static void near_kind (DtCmdCall *c) {
  const DtBpKind *k;
  size_t n = strcspn(c->arg, " \t:.");
  int best = 3;
  const char *name = NULL;
  if (names_operator(c)) {
    dt_buf_addf(&c->r->cx->err.message, "; did you mean op %s?", c->arg);
    return;
  }
  for (int i = 1; n > 3 && (k = dt_bp_kind(i)) != NULL; i++) {
    int d = dt_word_distance(c->arg, n, k->name, strlen(k->name));
    if (d > 0 && d < best) {
      best = d;
      name = k->name;
    }
  }
  if (name != NULL)
    dt_buf_addf(&c->r->cx->err.message, "; did you mean %s?", name);
}

/* A condition must be an expression, before anything is set. */
static DtStatus check_cond (DtCmdCall *c, const char *expr) {
  DtBuf why;
  DtStatus st = DT_OK;
  dt_buf_init(&why, c->r->cx);
  if (!dtL_cond_reads(c->r->L, expr, &why))
    st = dt_cmd_error(c, (size_t)(expr - c->arg), "%s", dt_buf_str(&why));
  dt_buf_fini(&why);
  return st;
}

/* Rank 0 writes; the others learn how it went. */
static DtStatus save_to (DtCmdCall *c, const char *path) {
  DtRepl *r = c->r;
  DtBuf b;
  DtStatus st = DT_OK;
  DT_CHECK(r->cx, !r->app->o.sandbox, DT_E_SANDBOX, "no files in the sandbox: "
           "%s", path);
  dt_buf_init(&b, r->cx);
  dt_bp_save(control_of(c), &b);
  if (dt_repl_first(r))
    st = dt_file_write(r->cx, path, dt_buf_str(&b), b.len);
  st = dt_repl_as_first(r, st);
  if (st == DT_OK)
    dt_buf_addf(c->out, "%d breakpoint%s\n", control_of(c)->nbp,
                control_of(c)->nbp == 1 ? "" : "s");
  dt_buf_fini(&b);
  return st;
}

static DtStatus load_from (DtCmdCall *c, const char *path) {
  char *text = NULL;
  size_t n;
  DT_TRY(c->r->cx, dt_repl_file(c->r, path, &text, &n));
  DtStatus st = dt_bp_load(control_of(c), text);
  dt_free(c->r->cx, text);
  for (int i = 0; st == DT_OK && i < control_of(c)->nbp; i++) {
    dt_bp_print(&control_of(c)->bp[i], c->out);
    dt_buf_addc(c->out, '\n');
  }
  return st;
}

/* Line `n` (from 1) of `text`; NULL when it has not so many. */
static const char *line_of (const char *text, int64_t n, int64_t *lines) {
  const char *at = NULL;
  for (*lines = 0; *text != '\0'; text += *text == '\n') {
    if (++*lines == n)
      at = text;
    text += strcspn(text, "\n");
  }
  return at;
}

static bool is_python (const char *file) {
  size_t n = strlen(file);
  return n > 3 && strcmp(file + n - 3, ".py") == 0;
}

/* A place where no stop will be is said at once: the file may come yet. */
static void note_line (DtCmdCall *c, const DtBreak *b) {
  char *text = NULL;
  int64_t lines;
  size_t n;
  if (strcmp(b->kind->name, "line") != 0 || b->arg == NULL ||
      c->r->app->o.sandbox || c->r->part)
    return;
  if (dt_repl_file(c->r, b->arg, &text, &n) != DT_OK) {
    dt_error_clear(c->r->cx);
    if (strcmp(b->arg, "prompt") != 0)
      dt_buf_addf(c->out, "    no %s is here: it counts for any script that "
                  "is so called\n", b->arg);
    return;
  }
  const char *s = line_of(text, b->num, &lines);
  const char *code = s == NULL ? NULL : s + strspn(s, " \t\r");
  if (s == NULL)
    dt_buf_addf(c->out, "    %s has %lld lines\n", b->arg, (long long)lines);
  else if (*code == '\n' || *code == '\0' ||
           (*code == '#' && is_python(b->arg)) ||
           (strncmp(code, "--", 2) == 0 && code[2] != '['))
    dt_buf_addf(c->out, "    nothing runs on line %lld\n",
                (long long)b->num);
  dt_free(c->r->cx, text);
}

/* A variable that is not there may come: but it may be a slip, too. */
static void note_variable (DtCmdCall *c, const DtBreak *b) {
  DtRepl *r = c->r;
  DtBuf seen;
  bool named = strcmp(b->kind->name, "watch") == 0 ||
               strcmp(b->kind->name, "placement") == 0;
  if (!named || b->arg == NULL || r->at == NULL || r->past != 0)
    return;
  dt_buf_init(&seen, r->cx);
  if (dt_names_live(r->L, b->arg, &seen) == NULL)
    dt_buf_addf(c->out, "    no tensor is called %s here: it counts from when "
                "one is\n", b->arg);
  dt_buf_fini(&seen);
}

/* The first line that runs in the function on the top of the stack, which is
** popped: "FILE:LINE". */
static bool add_first_line (lua_State *L, DtBuf *b) {
  lua_Debug ar;
  int first = 0;
  lua_getinfo(L, ">SL", &ar);
  if (lua_istable(L, -1))
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
      int line = (int)lua_tointeger(L, -2);
      if (line > ar.linedefined && (first == 0 || line < first)) first = line;
    }
  lua_pop(L, 1);
  if (first == 0 || *ar.source != '@' || dtL_is_ours(ar.source)) return false;
  dt_buf_addf(b, "%s:%d", ar.source + 1, first);
  return true;
}

/* The same of a function of Python's, a table (python/stmt.lua): where it stands,
** and its source, whose first statement may be its text of help. */
static bool add_python_line (lua_State *L, DtBuf *b) {
  const char *where, *colon;
  int line = 0, top = lua_gettop(L);
  lua_pushliteral(L, "where");
  lua_rawget(L, top);
  where = lua_tostring(L, -1);
  colon = where != NULL ? strrchr(where, ':') : NULL;
  lua_pushliteral(L, "source");
  lua_rawget(L, top);
  if (lua_istable(L, -1) && lua_getfield(L, -1, "body") == LUA_TTABLE)
    for (int i = 1; i <= 2 && lua_geti(L, -1, i) == LUA_TTABLE; i++) {
      lua_getfield(L, -1, "kind");
      bool text = lua_type(L, -1) == LUA_TSTRING &&
                  strcmp(lua_tostring(L, -1), "expr") == 0;
      if (lua_getfield(L, -2, "first") != LUA_TNUMBER) {
        lua_pop(L, 1);
        lua_getfield(L, -2, "line");
      }
      line = (int)lua_tointeger(L, -1);
      lua_pop(L, 3);
      if (!text) break;
    }
  if (colon != NULL && line > 0)
    dt_buf_addf(b, "%.*s:%d", (int)(colon - where), where, line);
  lua_settop(L, top - 1);
  return colon != NULL && line > 0;
}

typedef struct Place {
  DtRepl *r;
  const char *name;
  DtBuf *at, *why;
} Place;

/* Protected: where a function begins, by the texts of the program
** (lua/repl/places.lua), or what keeps it from being one. */
static int ask_place (lua_State *L) {
  const Place *p = lua_touserdata(L, 1);
  const char *file = p->r->rerun.name;
  lua_getglobal(L, "require");
  lua_pushliteral(L, "repl.places");
  lua_call(L, 1, 1);
  lua_getfield(L, -1, "find");
  lua_pushstring(L, p->name);
  lua_pushstring(L, file != NULL ? file + (*file == '@') : NULL);
  lua_pushstring(L, p->r->rerun.text);
  lua_call(L, 3, 2);
  if (lua_isstring(L, -2)) dt_buf_add(p->at, lua_tostring(L, -2));
  else if (lua_isstring(L, -1)) dt_buf_add(p->why, lua_tostring(L, -1));
  return 0;
}

static bool add_place (DtRepl *r, const char *name, DtBuf *at, DtBuf *why) {
  Place p = {r, name, at, why};
  lua_pushcfunction(r->L, ask_place);
  lua_pushlightuserdata(r->L, &p);
  if (lua_pcall(r->L, 1, 0, 0) != LUA_OK) lua_pop(r->L, 1);
  return at->len > 0;
}

/* "f" for FILE:LINE where f of the script begins, "14" of the script that ran
** last while nothing is stopped; else the text as it is.  `why`: of a name that
** is that of several functions. */
static const char *place_of (DtCmdCall *c, DtBuf *b, DtBuf *why) {
  DtRepl *r = c->r;
  lua_State *L = r->L;
  const char *s = c->arg;
  size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                       "0123456789_.");
  bool whole = s[n] == '\0' || strncmp(s + n, " if ", 4) == 0;
  bool expression, found = false;
  int top = lua_gettop(L);
  if (!whole || n == 0) return s;
  if (strspn(s, "0123456789") == n) {
    if (r->at != NULL || r->rerun.name == NULL) return s;
    dt_buf_addf(b, "%s:", r->rerun.name + (*r->rerun.name == '@'));
    dt_buf_add(b, s);
    return dt_buf_str(b);
  }
  for (int i = 0; dt_bp_kind(i) != NULL; i++)
    if (strlen(dt_bp_kind(i)->name) == n && strncmp(s, dt_bp_kind(i)->name, n) == 0)
      return s;
  char *name = dt_strndup(r->cx, s, n);
  if (name != NULL && dt_eval_compile(L, name, &expression) && expression &&
      lua_pcall(L, 0, 1, 0) == LUA_OK)
    found = lua_isfunction(L, -1) ? add_first_line(L, b)
      : lua_istable(L, -1) && add_python_line(L, b);
  lua_settop(L, top);
  if (name != NULL && !found)
    found = add_place(r, name, b, why);
  dt_free(r->cx, name);
  dt_error_clear(r->cx);
  if (found) dt_buf_add(b, s + n);
  return found ? dt_buf_str(b) : s;
}

static DtStatus set_break (DtCmdCall *c, bool once) {
  DtControl *k = control_of(c);
  const char *cond = strstr(c->arg, " if ");
  DtBuf place, why;
  int id = 0;
  if (*c->arg == '\0') {
    show_kinds(c->out);
    return DT_OK;
  }
  if (strncmp(c->arg, "save ", 5) == 0)
    return save_to(c, c->arg + 5 + strspn(c->arg + 5, " "));
  if (strncmp(c->arg, "load ", 5) == 0)
    return load_from(c, c->arg + 5 + strspn(c->arg + 5, " "));
  if (cond != NULL)
    DT_TRY(c->r->cx, check_cond(c, cond + 4));
  size_t len = strlen(c->arg);
  if (len > 3 && strcmp(c->arg + len - 3, " if") == 0)
    return dt_cmd_error(c, len, "wanted a condition behind if");
  dt_buf_init(&place, c->r->cx);
  dt_buf_init(&why, c->r->cx);
  const char *where = place_of(c, &place, &why);
  DtStatus st = why.len > 0 ? dt_cmd_error(c, 0, "%s", dt_buf_str(&why))
                            : dt_bp_add(k, where, once, &id);
  if (st != DT_OK && why.len == 0)
    near_kind(c);
  dt_buf_fini(&place);
  dt_buf_fini(&why);
  if (st != DT_OK)
    return st;
  dt_bp_print(dt_bp_find(k, id), c->out);
  dt_buf_addc(c->out, '\n');
  note_line(c, dt_bp_find(k, id));
  note_variable(c, dt_bp_find(k, id));
  return DT_OK;
}

static DtStatus cmd_break (DtCmdCall *c) { return set_break(c, false); }
static DtStatus cmd_tbreak (DtCmdCall *c) { return set_break(c, true); }

static DtStatus cmd_watch (DtCmdCall *c) {
  DtBuf b;
  int id = 0;
  if (*c->arg == '\0')
    return dt_cmd_error(c, 0, "wanted a variable that holds a tensor");
  dt_buf_init(&b, c->r->cx);
  dt_buf_addf(&b, "watch %s", c->arg);
  DtStatus st = dt_bp_add(control_of(c), dt_buf_str(&b), false, &id);
  dt_buf_fini(&b);
  if (st == DT_OK) {
    dt_bp_print(dt_bp_find(control_of(c), id), c->out);
    dt_buf_addc(c->out, '\n');
    note_variable(c, dt_bp_find(control_of(c), id));
  }
  return st;
}

/* "3 rest": the breakpoint, and where the rest begins. */
static DtStatus find_break (DtCmdCall *c, DtBreak **b, const char **rest) {
  char *end;
  long id = strtol(c->arg, &end, 10);
  if (end == c->arg || strspn(end, " \t\n") < (*end != '\0') || id <= 0)
    return dt_cmd_error(c, 0, "wanted the number of a breakpoint");
  *b = dt_bp_find(control_of(c), (int)id);
  if (*b == NULL)
    return dt_cmd_error(c, 0, "there is no breakpoint %ld", id);
  *rest = end + strspn(end, " \t\n");
  return DT_OK;
}

static DtStatus cmd_delete (DtCmdCall *c) {
  DtBreak *b;
  const char *rest;
  if (*c->arg == '\0' || strcmp(c->arg, "all") == 0)
    return dt_bp_delete(control_of(c), 0);
  DT_TRY(c->r->cx, find_break(c, &b, &rest));
  return dt_bp_delete(control_of(c), b->id);
}

static DtStatus turn_break (DtCmdCall *c, bool off) {
  DtControl *k = control_of(c);
  DtBreak *b = NULL;
  const char *rest;
  if (*c->arg != '\0')
    DT_TRY(c->r->cx, find_break(c, &b, &rest));
  for (int i = 0; i < k->nbp; i++)
    if (b == NULL || b == &k->bp[i])
      k->bp[i].off = off;
  if (k->at == NULL)
    dt_control_arm(k);
  return DT_OK;
}

static DtStatus cmd_enable (DtCmdCall *c) { return turn_break(c, false); }
static DtStatus cmd_disable (DtCmdCall *c) { return turn_break(c, true); }

static DtStatus cmd_condition (DtCmdCall *c) {
  DtBreak *b;
  const char *rest;
  DT_TRY(c->r->cx, find_break(c, &b, &rest));
  if (*rest != '\0')
    DT_TRY(c->r->cx, check_cond(c, rest));
  return dt_bp_set_cond(control_of(c), b, rest);
}

static DtStatus cmd_ignore (DtCmdCall *c) {
  DtBreak *b;
  const char *rest;
  char *end;
  DT_TRY(c->r->cx, find_break(c, &b, &rest));
  long n = strtol(rest, &end, 10);
  if (end == rest || *end != '\0' || n < 0)
    return dt_cmd_error(c, (size_t)(rest - c->arg),
                        "wanted how many hits to pass over");
  b->ignore = n;
  return DT_OK;
}

/* Commands on one line, apart by ';;', or on the lines after it. */
static DtStatus cmd_commands (DtCmdCall *c) {
  DtBreak *b;
  const char *rest;
  DT_TRY(c->r->cx, find_break(c, &b, &rest));
  DtBuf t;
  dt_buf_init(&t, c->r->cx);
  while (*rest != '\0') {
    const char *sep = strstr(rest, ";;"), *nl = strchr(rest, '\n');
    const char *end = sep == NULL || (nl != NULL && nl < sep) ? nl : sep;
    size_t n = end != NULL ? (size_t)(end - rest) : strlen(rest);
    while (n > 0 && rest[n - 1] == ' ')
      n--;
    if (n > 0)
      dt_buf_addf(&t, "%s%.*s", t.len > 0 ? "\n" : "", (int)n, rest);
    rest = end != NULL ? end + (*end == ';') + 1 : "";
    rest += strspn(rest, " \t\n");
  }
  DtStatus st = dt_buf_ok(&t);
  if (st == DT_OK)
    st = dt_bp_set_commands(control_of(c), b, dt_buf_str(&t));
  dt_buf_fini(&t);
  return st;
}

const DtCmd dt_cmds_break[] = {
  {"break b", "breakpoints", 0, "[WHERE [if EXPR] | save FILE | load FILE]",
   "Stop at a line, in a function, or at an event of a kind; without WHERE: the kinds.\n"
   "EXPR is over the event: op, line, seq, bytes, mesh_dim, inputs, outputs,\n"
   "module, backward, hits; and over the script's variables: in a Python\n"
   "program Python (inputs[0]), else Lua (inputs[1]).\n"
   "  :break repro.lua:14, :break step\n"
   "  :break op aten.mm* if inputs[1].shape[1] > 4\n"
   "  :break redistribute > 1M implicit\n"
   "  :break collective all_gather on tp\n"
   "  :break placement x = P(sum), :break placement P\n"
   "save and load keep all of them, with conditions and commands.\n"
   "Example: :break op aten.mm*", cmd_break},
  {"tbreak", "breakpoints", 0, "[WHERE [if EXPR]]",
   "The same, deleted when it has stopped once.\n"
   "Example: :tbreak nan", cmd_tbreak},
  {"watch", "breakpoints", 0, "X",
   "Stop when the variable X holds another tensor, or its values or\n"
   "placements change.\n"
   "Example: :watch w", cmd_watch},
  {"delete", "breakpoints", 0, "[N]",
   "Delete breakpoint N, or all.\n"
   "Example: :delete", cmd_delete},
  {"enable", "breakpoints", 0, "[N]",
   "Turn breakpoint N on, or all.\n"
   "Example: :enable", cmd_enable},
  {"disable", "breakpoints", 0, "[N]",
   "Turn breakpoint N off, or all.\n"
   "Example: :disable", cmd_disable},
  {"condition", "breakpoints", 0, "N [EXPR]",
   "Stop at breakpoint N only where EXPR is true; without EXPR, always.\n"
   "Example: :condition 1 bytes > 4096", cmd_condition},
  {"ignore", "breakpoints", 0, "N COUNT",
   "Pass over the next COUNT hits of breakpoint N: where it has a condition,\n"
   "those at which that is true, as in gdb.\n"
   "Example: :ignore 1 10", cmd_ignore},
  {"commands", "breakpoints", DT_CMD_TEXT_OF, "N [LINE [;; LINE]...]",
   "Lines to run at breakpoint N, as if typed.\n"
   "With N alone they are the lines typed after it, up to one with a dot; a\n"
   "dot alone takes them away.\n"
   "Example: :commands 1 :print x ;; :continue", cmd_commands},
  {NULL, NULL, 0, NULL, NULL, NULL}
};
