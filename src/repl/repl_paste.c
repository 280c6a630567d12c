/* SPDX-License-Identifier: MIT
** repl/repl_paste.c: several lines that came at once are taken for what they are:
** a chunk of Lua; lines of a session, which are run one after the other (each
** shows its value, commands among them); a text of Python; a report.  Rank
** 0's. */
#include "repl/repl_int.h"

#include <lua.h>
#include <string.h>
#include "repl/cmd.h"
#include "repl/source.h"

static size_t line_length (const char *s) { return strcspn(s, "\n"); }

/* The first lines of `s` that are whole by themselves; 0: none are. */
static size_t unit_length (DtRepl *r, const char *s) {
  DtBuf unit;
  size_t n = 0;
  bool whole = false;
  dt_buf_init(&unit, r->cx);
  while (s[n] != '\0' && !whole) {
    size_t len = line_length(s + n);
    if (unit.len > 0)
      dt_buf_addc(&unit, '\n');
    dt_buf_addn(&unit, s + n, len);
    n += len + (s[n + len] == '\n');
    whole = dt_chunk_whole(r, dt_buf_str(&unit));
  }
  dt_buf_fini(&unit);
  return whole ? n : 0;
}

static bool is_blank (const char *s, size_t n) {
  while (n > 0 && strchr(" \t\n", s[n - 1]) != NULL)
    n--;
  return n == 0;
}

bool dt_paste_next (DtRepl *r, DtBuf *chunk) {
  const char *s = dt_buf_str(&r->paste) + r->pasted;
  while (r->pasted < r->paste.len) {
    size_t n = unit_length(r, s);
    if (n == 0)                 /* it changed its mind: all that is left */
      n = r->paste.len - r->pasted;
    r->pasted += n;
    if (!is_blank(s, n)) {
      dt_buf_addn(chunk, s, n - (s[n - 1] == '\n'));
      return true;
    }
    s += n;
  }
  dt_buf_clear(&r->paste);
  r->pasted = 0;
  return false;
}

/* Is it made of lines that are whole, more than one of them? */
static bool is_session (DtRepl *r, const char *s) {
  int units = 0;
  while (*s != '\0') {
    size_t n = unit_length(r, s);
    if (n == 0)
      return is_blank(s, strlen(s)) && units > 1;
    units += !is_blank(s, n);
    s += n;
  }
  return units > 1;
}

static bool has_line (const char *s, const char *head) {
  for (; *s != '\0'; s += line_length(s) + (s[line_length(s)] == '\n'))
    if (strncmp(s, head, strlen(head)) == 0)
      return true;
  return false;
}

static bool is_python (const char *s) {
  for (; *s != '\0'; s += line_length(s) + (s[line_length(s)] == '\n'))
    if (dt_line_is_python(s))
      return true;
  return false;
}

static bool is_lua (DtRepl *r, const char *s) {
  bool expression;
  int top = lua_gettop(r->L);
  bool yes = dt_eval_compile(r->L, s, &expression);
  lua_settop(r->L, top);
  return yes;
}

/* Protected: no error, when the text at 1 is a program of Python. */
static int parse_python (lua_State *L) {
  lua_getglobal(L, "require");
  lua_pushliteral(L, "python.parser");
  lua_call(L, 1, 1);
  lua_getfield(L, -1, "parse");
  lua_pushvalue(L, 1);
  lua_call(L, 1, 0);
  return 0;
}

/* A traceback, alone or in what was written around it; not one that a program
** quotes. */
static bool is_report (lua_State *L, const char *s) {
  if (strstr(s, "Traceback (most recent call last)") == NULL)
    return false;
  lua_pushcfunction(L, parse_python);
  lua_pushstring(L, s);
  if (lua_pcall(L, 1, 0, 0) == LUA_OK)
    return false;
  lua_pop(L, 1);
  dt_error_clear(dtL_session(L)->cx);
  return true;
}

/* The first line of a traceback by itself: a terminal without brackets around
** pastes, whose next lines are to come. */
static bool begins_report (const char *s) {
  static const char head[] = "Traceback (most recent call last):";
  s += strspn(s, " \t");
  if (strncmp(s, "[rank", 5) == 0)
    s += strcspn(s, ":") + strspn(s + strcspn(s, ":"), ": ");
  return strncmp(s, head, sizeof head - 1) == 0 &&
         strspn(s + sizeof head - 1, " \t\r") == strlen(s + sizeof head - 1);
}

static const char importing[] = ":import\n";

bool dt_paste_opens (const char *chunk) {
  size_t n = sizeof importing - 1;
  return strncmp(chunk, importing, n) == 0 && begins_report(chunk + n);
}

static void become (DtBuf *chunk, const char *command, const char *typed) {
  dt_buf_clear(chunk);
  dt_buf_addf(chunk, "%s\n%s\n.", command, typed);
}

/* What was pasted is taken for what it is: a report, Python, a whole session
** with prompts, or Lua. Lua is looked at first where there is no ">>> ", as
** much text is both. */
void dt_paste_look (DtRepl *r, DtBuf *chunk, const char *typed) {
  const char *s = dt_buf_str(chunk);
  bool prompts = has_line(typed, ">>> ");
  if (begins_report(typed)) {
    dt_buf_clear(chunk);
    dt_buf_addf(chunk, "%s%s", importing, typed);
    return;
  }
  if (r->set.python && !is_report(r->L, typed))
    return;
  if (strchr(typed, '\n') == NULL || dt_chunk_is_text(r, s) ||
      *typed == ':' || *typed == '@' || (!prompts && is_lua(r, s)))
    return;                     /* a command has the lines behind it */
  if (!prompts && is_report(r->L, typed)) {
    dt_repl_say(r, "%s", "taken for a report, as :import reads it\n");
    become(chunk, ":import", typed);
  } else if (is_python(typed)) {
    dt_repl_say(r, "%s", "taken for Python, as :python runs it\n");
    become(chunk, ":python", typed);
  } else if (is_session(r, s)) {
    dt_buf_clear(&r->paste);
    dt_buf_addn(&r->paste, s, chunk->len);
    r->pasted = 0;
    dt_buf_clear(chunk);
    (void)dt_paste_next(r, chunk);
  }
}
