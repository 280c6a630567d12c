/* SPDX-License-Identifier: MIT
** repl/cmd.c: finding and running commands.  The commands are in cmd_*.c. */
#include "base/error_tool.h"
#include "repl/cmd.h"
#include "repl/source.h"

#include <ctype.h>
#include <string.h>

/* Every table, once. */
static const DtCmd *const tables[] = {dt_cmds_session, dt_cmds_files,
                                      dt_cmds_data,
                                      dt_cmds_run, dt_cmds_break, dt_cmds_time,
                                      dt_cmds_record,
                                      dt_cmds_debug, dt_cmds_import,
                                      dt_cmds_test, dt_cmds_find,
                                      dt_cmds_ask, dt_cmds_across};
enum { NTABLES = sizeof tables / sizeof tables[0], NEAR = 4 };

const DtCmd *dt_cmd_next (int *it) {
  int i = (*it)++;
  for (int t = 0; t < NTABLES; t++)
    for (const DtCmd *c = tables[t]; c->names != NULL; c++)
      if (i-- == 0)
        return c;
  return NULL;
}

const char *dt_cmd_name (const DtCmd *c, char *buf) {
  size_t n = strcspn(c->names, " ");
  if (n > 31)
    n = 31;
  memcpy(buf, c->names, n);
  buf[n] = '\0';
  return buf;
}

/* 2: one of the names; 1: the canonical name begins with it; 0: neither. */
static int match_name (const DtCmd *c, const char *name, size_t n) {
  for (const char *s = c->names; *s != '\0'; s += strspn(s, " ")) {
    size_t k = strcspn(s, " ");
    if (k == n && memcmp(s, name, n) == 0)
      return 2;
    s += k;
  }
  size_t k = strcspn(c->names, " ");
  return k > n && memcmp(c->names, name, n) == 0;
}

static void near_names (const char *name, size_t n, DtBuf *b) {
  char buf[32];
  int found = 0;
  for (int limit = 1; limit <= 2 && found == 0; limit++) {
    int it = 0;
    const DtCmd *c;
    while ((c = dt_cmd_next(&it)) != NULL && found < NEAR) {
      const char *s = dt_cmd_name(c, buf);
      if (dt_word_distance(name, n, s, strlen(s)) == limit)
        dt_buf_addf(b, found++ > 0 ? ", :%s" : "; did you mean :%s", s);
    }
  }
}

/* What other debuggers, and people, call it: none of these is a command's name. */
static const char *const elsewhere[][2] = {
  {"locals", ":info locals"}, {"vars", ":info locals"}, {"args", ":info locals"}, {"a", ":info locals"},
  {"variables", ":info locals"}, {"functions", ":info frames"},
  {"frames", ":info frames"}, {"stack", ":info frames"},
  {"trace", ":history, or :export trace FILE"}, {"ops", ":history"},
  {"log", ":history"}, {"comm", ":ledger"}, {"comms", ":ledger"},
  {"bytes", ":ledger"}, {"collectives", ":ledger, or :break collective"},
  {"memory", ":mem"}, {"rank", "@2 in front of a line, as in @2 x"},
  {"ranks", ":status; a line may ask one rank: @2 x"},
  {"replay", ":rerun, or :goto #N"}, {"restart", ":rerun"},
  {"reverse", ":back, or :goto #N"}, {"rewind", ":back, or :goto #N"},
  {"now", ":goto now"}, {"jump", ":goto #N"}, {"ll", ":list"},
  {"where", ":bt"}, {"backtrace", ":bt"}, {"placements", ":show X, or :types X"},
  {"spec", ":show X, or :types X"}, {"mesh", ":show mesh"}, {"graph", ":history"},
  {"profile", ":export trace FILE, or :timeit"}, {"errors", ":bt, or :fix"},
  {"warnings", ":findings"}, {"lint", ":findings"}, {"hang", ":status"},
  {"nan", ":break nan"}, {"undo", ":back"}, {"vs", ":whatif"},
};

static const char *named_elsewhere (const char *name, size_t n) {
  for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++)
    if (strlen(elsewhere[i][0]) == n && memcmp(elsewhere[i][0], name, n) == 0)
      return elsewhere[i][1];
  return NULL;
}

/* Does any command's name begin so? */
static bool begins_any (const char *name, size_t n) {
  const DtCmd *c;
  int it = 0;
  while ((c = dt_cmd_next(&it)) != NULL)
    if (match_name(c, name, n) > 0) return true;
  return false;
}

const DtCmd *dt_cmd_named (const char *name, size_t n) {
  const DtCmd *c;
  int it = 0;
  while ((c = dt_cmd_next(&it)) != NULL)
    if (match_name(c, name, n) == 2) return c;
  return NULL;
}

DtStatus dt_cmd_find (DtCtx *cx, const char *name, size_t n,
                      const DtCmd **out) {
  const DtCmd *c, *found = NULL;
  int it = 0, count = 0;
  char buf[32];
  DtBuf b;
  dt_buf_init(&b, cx);
  while ((c = dt_cmd_next(&it)) != NULL) {
    int m = match_name(c, name, n);
    if (m == 2) {
      dt_buf_fini(&b);
      *out = c;
      return DT_OK;
    }
    if (m == 1) {
      found = c;
      dt_buf_addf(&b, count++ > 0 ? ", :%s" : ":%s", dt_cmd_name(c, buf));
    }
  }
  DtStatus st = DT_OK;
  const char *here = named_elsewhere(name, n);
  if (here != NULL) {
    st = dt_raise(cx, DT_E_COMMAND, "no command :%.*s; here it is %s", (int)n,
                  name, here);
  } else if (count == 1) {
    *out = found;
  } else if (count > 1) {
    st = dt_raise(cx, DT_E_COMMAND, ":%.*s can be %s", (int)n, name,
                  dt_buf_str(&b));
  } else {
    near_names(name, n, &b);
    st = dt_raise(cx, DT_E_COMMAND, "no command :%.*s%s%s", (int)n, name,
                  dt_buf_str(&b), b.len > 0 ? "?" : " (:help lists them)");
  }
  dt_buf_fini(&b);
  return st;
}

DtStatus dt_cmd_error (DtCmdCall *c, size_t at, const char *fmt, ...) {
  DtCtx *cx = c->r->cx;
  char name[32];
  DtBuf b;
  va_list ap;
  dt_buf_init(&b, cx);
  va_start(ap, fmt);
  dt_buf_addv(&b, fmt, ap);
  va_end(ap);
  dt_cmd_name(c->cmd, name);
  dt_buf_addf(&b, "\n  :%s %s\n  %*s^", name, c->arg,
              (int)(strlen(name) + 2 + at), "");
  DtStatus st = dt_raise(cx, DT_E_COMMAND, "%s", dt_buf_str(&b));
  dt_buf_fini(&b);
  return st;
}

DtStatus dt_cmd_onoff (DtCmdCall *c, bool *v) {
  if (strcmp(c->arg, "on") == 0)
    *v = true;
  else if (strcmp(c->arg, "off") == 0)
    *v = false;
  else if (*c->arg == '\0')
    *v = !*v;
  else
    return dt_cmd_error(c, 0, "wanted on or off");
  return DT_OK;
}

/* Where the text in quotes that begins at s[i] ends: at its last quote, or at the
** NUL of `s`. */
static size_t text_end (const char *s, size_t i) {
  const char quote = s[i++];
  while (s[i] != '\0' && s[i] != quote)
    i += s[i] == '\\' && s[i + 1] != '\0' ? 2 : 1;
  return i;
}

/* Length of the Lua expression at `s`: up to a blank outside brackets and
** strings. */
static size_t expression_length (const char *s) {
  int depth = 0;
  size_t i = 0;
  for (; s[i] != '\0'; i++) {
    if (s[i] == '"' || s[i] == '\'') {
      i = text_end(s, i);
      if (s[i] == '\0')
        break;
    } else if (strchr("([{", s[i]) != NULL) {
      depth++;
    } else if (strchr(")]}", s[i]) != NULL) {
      depth--;
    } else if (depth <= 0 && (s[i] == ' ' || s[i] == '\t')) {
      break;
    }
  }
  return i;
}

/* An expression; PyTorch writes model.0.weight for what is model[0].weight.  In a
** text, as a state dict's key, it stays. */
static void add_expression (const char *s, size_t n, DtBuf *b) {
  size_t i, k, from = 0;                /* where the word under way begins */
  for (i = 0; i < n; i++) {
    bool word = isalnum((unsigned char)s[i]) || s[i] == '_';
    if (s[i] == '"' || s[i] == '\'') {
      size_t end = text_end(s, i);
      end = end < n ? end : n - 1;
      dt_buf_addn(b, s + i, end - i);
      i = end;
    }
    for (k = 0; s[i] == '.' && i + 1 + k < n && isdigit((unsigned char)s[i + 1 + k]);) k++;
    if (k > 0 && i > from && !isdigit((unsigned char)s[from]) &&
        (i + 1 + k == n || s[i + 1 + k] == '.')) {
      dt_buf_addf(b, "[%.*s]", (int)k, s + i + 1);
      i += k;
      continue;
    }
    if (!word && s[i] != '.' && s[i] != ']') from = i + 1;
    dt_buf_addn(b, s + i, 1);
  }
}

/* A Lua string literal. */
static void add_quoted (const char *s, DtBuf *b) {
  size_t n = strlen(s);
  if (n > 1 && s[0] == s[n - 1] && (*s == '"' || *s == '\'')) {
    dt_buf_add(b, s);
    return;
  }
  dt_buf_addc(b, '"');
  for (; *s != '\0'; s++) {
    if (*s == '"' || *s == '\\' || *s == '\n')
      dt_buf_addc(b, '\\');
    dt_buf_addc(b, *s);
  }
  dt_buf_addc(b, '"');
}

/* Evaluate; a text is written as it is, other values as the prompt does.  A
** table stays behind as DT_KEY_ANSWER, for --json. */
static DtStatus show_call (DtRepl *r, const char *expr) {
  lua_State *L = r->L;
  int top = lua_gettop(L);
  bool is_expression;
  DtStatus st = DT_OK;
  DtFloor outer = dtL_floor(L, "", 0);
  if (!dt_eval_compile(L, expr, &is_expression)) {
    const char *msg = lua_tostring(L, -1);
    st = dt_raise(r->cx, DT_E_PARSE, "%s", msg != NULL ? msg : "out of memory");
  } else {
    st = dt_eval_call(L, 0, 1, &r->diag);
  }
  dtL_state(L)->floor = outer;
  if (st == DT_OK) {
    DtBuf *out = dtL_out(L);
    if (lua_istable(L, -1)) {
      lua_pushvalue(L, -1);
      lua_setfield(L, LUA_REGISTRYINDEX, DT_KEY_ANSWER);
    }
    if (lua_type(L, -1) == LUA_TSTRING)
      dt_buf_add(out, lua_tostring(L, -1));
    else if (!lua_isnil(L, -1))
      dtL_show_value(L, -1, out);
    if (out->len > 0 && out->s[out->len - 1] != '\n')
      dt_buf_addc(out, '\n');
    st = dt_buf_ok(out);
  }
  lua_settop(L, top);
  return st;
}

/* Is it one name, and does it hold nothing? */
static bool names_nothing (DtRepl *r, const char *s, size_t n) {
  lua_State *L = r->L;
  int top = lua_gettop(L);
  bool expression, nothing;
  char name[64];
  n -= n > 0 && strchr(" \t", s[n - 1]) != NULL;
  if (n == 0 || n >= sizeof name || (*s >= '0' && *s <= '9') ||
      strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
             "0123456789_") < n)
    return false;
  memcpy(name, s, n);
  name[n] = '\0';
  nothing = dt_eval_compile(L, name, &expression) && expression &&
            lua_pcall(L, 0, 1, 0) == LUA_OK && lua_isnil(L, -1);
  lua_settop(L, top);
  dt_error_clear(r->cx);
  return nothing;
}

DtStatus dt_cmd_debug (DtCmdCall *c, const char *name, const char *args) {
  DtRepl *r = c->r;
  const char *s = c->arg;
  DtBuf b;
  DtStatus st = DT_OK;
  dt_buf_init(&b, r->cx);
  dt_buf_addf(&b, "dt.debug.%s(", name);
  for (int i = 0; args[i] != '\0' && args[i] != 'v' && *s != '\0'; i++) {
    bool rest = args[i] == 's' || args[i] == 'r';
    size_t n = rest ? strlen(s) : expression_length(s);
    size_t at = (size_t)(s - c->arg), hash = args[i] == 'n' && *s == '#';
    if (i > 0)
      dt_buf_add(&b, ", ");
    if (args[i] == 's') {
      add_quoted(s, &b);
    } else {
      if (args[i] == 'n' && (n == hash ||
                             strspn(s + hash, "0123456789") != n - hash)) {
        st = dt_cmd_error(c, at, "wanted a number, as 7 or #7");
        goto done;
      }
      if (args[i] == 'e' && names_nothing(r, s, n)) {
        st = dt_cmd_error(c, at, "nothing is called %.*s",
                          (int)strcspn(s, " \t"), s);
        goto done;
      }
      add_expression(s + hash, n - hash, &b);
    }
    s += n;
    s += strspn(s, " \t");
  }
  if (strchr(args, 'v') != NULL)
    dt_buf_add(&b, ", _ENV");
  if (*s != '\0') {
    st = dt_cmd_error(c, (size_t)(s - c->arg), "more than :%.*s takes (%s)",
                      (int)strcspn(c->cmd->names, " "), c->cmd->names,
                      c->cmd->args);
    goto done;
  }
  dt_buf_addc(&b, ')');
  DT_TRYG(r->cx, dt_buf_ok(&b));
  dt_eval_push_error(r->L);     /* a slip here is not what went wrong */
  st = show_call(r, dt_buf_str(&b));
  dt_eval_pop_error(r->L);
done:
  dt_buf_fini(&b);
  return st;
}

/* ---- chunks ---- */

bool dt_chunk_is_text (DtRepl *r, const char *text) {
  const char *s = text + strspn(text, " \t\n");
  const DtCmd *c;
  if (*s != ':' || s[1] == ':')
    return false;
  s += 1 + strspn(s + 1, " \t");
  size_t n = strcspn(s, " \t\n"), blank = strspn(s + n, " \t");
  bool alone = n > 0 && (s[n + blank] == '\0' || s[n + blank] == '\n');
  size_t of = n + blank, num = strspn(s + of, "0123456789");
  of += num + strspn(s + of + num, " \t");
  bool number = num > 0 && (s[of] == '\0' || s[of] == '\n');
  bool yes = (alone || number) && dt_cmd_find(r->cx, s, n, &c) == DT_OK &&
             (c->needs & (alone ? DT_CMD_TEXT : DT_CMD_TEXT_OF)) != 0;
  dt_error_clear(r->cx);
  return yes;
}

/* The length without a last line "."; n when there is none. */
static size_t before_dot (const char *s, size_t n) {
  if (n == 1 && *s == '.')
    return 0;
  return n > 1 && s[n - 1] == '.' && s[n - 2] == '\n' ? n - 2 : n;
}

bool dt_chunk_whole (DtRepl *r, const char *text) {
  const char *s = text + strspn(text, " \t\n");
  size_t n = strlen(s);
  if (*s == '@' && (!r->set.python || dt_addr_is(s)))
    s += strcspn(s, " \t\n");
  if (*s == '?')
    return true;
  if (*s == ':' && s[1] != ':')
    return !dt_chunk_is_text(r, s) || before_dot(s, n) < n;
  if (r->set.python)
    return !dt_python_incomplete(r->L, s, false);
  return dt_line_is_python(s) || !dt_eval_incomplete(r->L, s + (*s == '='));
}

static int count_lines (const char *from, const char *to) {
  int n = 0;
  for (; from < to; from++)
    n += *from == '\n';
  return n;
}

/* A line that begins with ":".  The person's own commands come first by their
** whole name; abbreviated only where no command of ours begins so.  A text of
** several lines ends before a line that is a dot. */
DtStatus dt_cmd_run (DtRepl *r, const char *line) {
  DtCtx *cx = r->cx;
  const char *name = line + 1 + strspn(line + 1, " \t");
  size_t n = strcspn(name, " \t\n");
  const char *s = name + n + strspn(name + n, " \t\n");
  size_t len = strlen(s);
  const DtCmd *cmd;
  DtStatus st;
  while (len > 0 && strchr(" \t\n", s[len - 1]) != NULL)
    len--;
  DT_CHECK(cx, n > 0, DT_E_COMMAND, "a command's name follows the colon; "
           ":help lists them");
  char *arg = dt_strndup(cx, s, len);
  if (arg == NULL)
    return DT_E_NOMEM;
  if (dt_user_command(r, name, n, arg, true, &st)) {
    dt_free(cx, arg);
    return st;
  }
  /* the person's own may be abbreviated where the name is nobody else's */
  if (!begins_any(name, n) && dt_user_command(r, name, n, arg, false, &st)) {
    dt_free(cx, arg);
    return st;
  }
  st = dt_cmd_find(cx, name, n, &cmd);
  if (st == DT_OK) {
    DtCmdCall c = {r, cmd, arg, dtL_out(r->L), count_lines(name, s)};
    if ((cmd->needs & (DT_CMD_TEXT | DT_CMD_TEXT_OF)) != 0)
      arg[before_dot(arg, len)] = '\0';
    if ((cmd->needs & DT_NEED_DATA) != 0 && r->comm->no_data)
      st = dt_raise(cx, DT_E_WORLD, ":%.*s needs a world with data", (int)n,
                    name);
    else if (*cmd->args == '\0' && len > 0)
      st = dt_cmd_error(&c, 0, ":%.*s takes no argument",
                        (int)strcspn(cmd->names, " "), cmd->names);
    else
      st = cmd->fn(&c);
    dt_buf_clear(&r->again);
    if ((cmd->needs & DT_CMD_REPEATS) != 0 && st == DT_OK)
      dt_buf_addf(&r->again, ":%.*s", (int)strcspn(cmd->names, " "),
                  cmd->names);
  }
  dt_free(cx, arg);
  return st;
}
