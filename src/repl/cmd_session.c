/* SPDX-License-Identifier: MIT
** repl/cmd_session.c: commands of the session itself: help, leaving,
** settings, files, what the ranks are doing. */
#include "base/error_tool.h"
#include "repl/cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static DtStatus cmd_help (DtCmdCall *c) {
  return dt_help_page(c->r, c->arg, c->out);
}

static DtStatus cmd_apropos (DtCmdCall *c) {
  if (*c->arg == '\0')
    return dt_cmd_error(c, 0, "wanted a word to look for");
  dt_help_apropos(c->r, c->arg, c->out);
  return DT_OK;
}

static DtStatus cmd_quit (DtCmdCall *c) {
  char *end = NULL;
  long code = strtol(c->arg, &end, 10);
  if (*c->arg != '\0' && (*end != '\0' || code < 0 || code > 255))
    return dt_cmd_error(c, 0, "an exit code goes from 0 to 255");
  c->r->quit = true;
  c->r->code = (int)code;
  return DT_OK;
}

typedef struct Setting { const char *name, *text; size_t at; } Setting;

static const Setting settings[] = {
  {"findings", "traps that the program runs into",
   offsetof(DtSettings, findings)},
  {"notes", "a line for each operator that communicated",
   offsetof(DtSettings, notes)},
  {"pager", "output longer than the screen goes through $PAGER",
   offsetof(DtSettings, pager)},
  {"python", "lines typed are Python's, as behind :python",
   offsetof(DtSettings, python)},
  {"raw", "each rank's output by itself", offsetof(DtSettings, raw)},
  {"timing", "how long each line took", offsetof(DtSettings, timing)},
  {"wrap", "long lines are cut between words for this terminal",
   offsetof(DtSettings, wrap)},
};
enum { NSETTINGS = sizeof settings / sizeof settings[0] };

/* Options of printing are the Lua library's (dt.set_printoptions). */
typedef struct Printing { const char *name, *text; } Printing;

static const Printing printing[] = {
  {"precision", "digits after the point of tensors' values"},
  {"threshold", "tensors of more elements are summarised"},
  {"edgeitems", "elements at each edge of a summary"},
  {"linewidth", "columns of tensors' lines"},
  {"sci_mode", "scientific notation: on, off, or auto as PyTorch chooses"},
};
enum { NPRINTING = sizeof printing / sizeof printing[0] };

const char *dt_setting_name (int i) {
  return i < NSETTINGS ? settings[i].name
    : i < NSETTINGS + NPRINTING ? printing[i - NSETTINGS].name : NULL;
}

static bool *setting_at (DtRepl *r, int i) {
  return (bool *)((char *)&r->set + settings[i].at);
}

static void show_setting (DtBuf *out, const char *name, const char *value,
                          const char *text) {
  dt_buf_addf(out, "%-9s %-4s %s\n", name, value, text);
}

/* Calls dt._printoptions(); 1: the DtCmdCall, 2: the only name, or "". */
static int show_printing (lua_State *L) {
  DtCmdCall *c = lua_touserdata(L, 1);
  const char *only = lua_tostring(L, 2);
  lua_getfield(L, LUA_REGISTRYINDEX, "dt");
  lua_getfield(L, -1, "_printoptions");
  lua_call(L, 0, NPRINTING);
  for (int i = 0; i < NPRINTING; i++) {
    int at = i - NPRINTING;
    const char *v = lua_isnil(L, at) ? "auto"
      : !lua_isboolean(L, at) ? NULL : lua_toboolean(L, at) ? "on" : "off";
    char number[32];
    snprintf(number, sizeof number, "%lld", (long long)lua_tointeger(L, at));
    if (*only == '\0' || strcmp(only, printing[i].name) == 0)
      show_setting(c->out, printing[i].name, v != NULL ? v : number,
                   printing[i].text);
  }
  return 0;
}

/* 1: the DtCmdCall, 2: name, 3: value. */
static int change_printing (lua_State *L) {
  DtCmdCall *c = lua_touserdata(L, 1);
  const char *name = lua_tostring(L, 2), *value = lua_tostring(L, 3);
  bool sci = strcmp(name, "sci_mode") == 0, on = strcmp(value, "on") == 0;
  char *end;
  long long n = strtoll(value, &end, 10);
  lua_getfield(L, LUA_REGISTRYINDEX, "dt");
  lua_getfield(L, -1, "_printoptions");
  for (int i = 0; i < NPRINTING - 1; i++)
    if (strcmp(name, printing[i].name) == 0)
      lua_pushinteger(L, n);
    else
      lua_pushnil(L);
  if (sci ? !on && strcmp(value, "off") != 0 && strcmp(value, "auto") != 0
          : *value == '\0' || *end != '\0' || n < 0) {
    (void)dt_cmd_error(c, strlen(name) + 1, sci ? "wanted on, off or auto"
                                                : "wanted a number");
    return dtL_raise(L);
  }
  if (sci && strcmp(value, "auto") == 0)
    lua_pushnil(L);
  else if (sci)
    lua_pushboolean(L, on);
  lua_call(L, NPRINTING - 1 + sci, 0);
  return 0;
}

static DtStatus set_printing (DtCmdCall *c, const char *name,
                              const char *value) {
  lua_State *L = c->r->L;
  DtStatus st = DT_OK;
  int top = lua_gettop(L);
  lua_pushcfunction(L, value != NULL ? change_printing : show_printing);
  lua_pushlightuserdata(L, c);
  lua_pushstring(L, name);
  lua_pushstring(L, value);
  if (lua_pcall(L, 3, 0, 0) != LUA_OK)
    st = dtL_catch(L, DT_E_COMMAND);
  lua_settop(L, top);
  return st;
}

static DtStatus change_setting (DtCmdCall *c, int i, const char *value) {
  bool *v = setting_at(c->r, i);
  if (strcmp(value, "on") == 0)
    *v = true;
  else if (strcmp(value, "off") == 0)
    *v = false;
  else
    return dt_cmd_error(c, (size_t)(value - c->arg), "wanted on or off");
  dt_notes_enable(c->r->notes, c->r->set.notes);
  if (v == &c->r->set.findings)
    dt_diag_enable(c->r->findings, *v);
  return DT_OK;
}

static DtStatus no_setting (DtCmdCall *c) {
  const char *name;
  DtBuf b;
  dt_buf_init(&b, c->r->cx);
  for (int i = 0; (name = dt_setting_name(i)) != NULL; i++)
    dt_buf_addf(&b, "%s%s", i == 0 ? "" : i % 7 == 0 ? ",\n  " : ", ", name);
  DtStatus st = dt_cmd_error(c, 0, "the settings are %s", dt_buf_str(&b));
  dt_buf_fini(&b);
  return st;
}

static DtStatus cmd_set (DtCmdCall *c) {
  char name[32];
  size_t n = strcspn(c->arg, " \t");
  const char *value = c->arg + n + strspn(c->arg + n, " \t");
  snprintf(name, sizeof name, "%.*s", (int)n, c->arg);
  for (int i = 0; i < NSETTINGS; i++) {
    if (n > 0 && strcmp(settings[i].name, name) != 0)
      continue;
    if (*value != '\0')
      return change_setting(c, i, value);
    show_setting(c->out, settings[i].name, *setting_at(c->r, i) ? "on" : "off",
                 settings[i].text);
    if (n > 0)
      return DT_OK;
  }
  for (int i = 0; i < NPRINTING; i++)
    if (strcmp(printing[i].name, name) == 0)
      return set_printing(c, name, *value != '\0' ? value : NULL);
  return n == 0 ? set_printing(c, "", NULL) : no_setting(c);
}

static DtStatus cmd_timing (DtCmdCall *c) {
  return dt_cmd_onoff(c, &c->r->set.timing);
}

/* Rank 0 alone opens; the others learn how it went. */
static DtStatus open_file (DtCmdCall *c, int *slot) {
  DtRepl *r = c->r;
  DtStatus st = DT_OK;
  if (r->app->o.sandbox)
    return dt_raise(r->cx, DT_E_SANDBOX, "no files in the sandbox: %s",
                    c->arg);
  if (dt_repl_first(r))
    st = dt_output_open(r->cx, &r->app->out, slot, c->arg);
  return dt_repl_as_first(r, st);
}

static DtStatus cmd_o (DtCmdCall *c) {
  return open_file(c, &c->r->app->out.file);
}

static DtStatus cmd_transcript (DtCmdCall *c) {
  return open_file(c, &c->r->app->out.transcript);
}

static DtStatus cmd_status (DtCmdCall *c) {
  DtRepl *r = c->r;
  if (!dt_repl_first(r))
    return DT_OK;
  DtBuf b;
  dt_buf_init(&b, r->cx);
  dt_buf_addf(&b, "%s world, %d ranks, PyTorch %d.%d, device %s\n",
              r->comm->vt->name, r->comm->size, r->s->profile.release / 100,
              r->s->profile.release % 100,
              r->app->o.device != NULL ? r->app->o.device : "cpu");
  dt_comm_status(r->comm, &b);
  DtStatus st = dt_buf_ok(&b);
  if (r->app->o.json)             /* it is a field there */
    dt_buf_add(c->out, dt_buf_str(&b));
  else
    dt_output_write(&r->app->out, DT_OUT_RESULT, dt_buf_str(&b), b.len);
  dt_buf_fini(&b);
  return st;
}

const DtCmd dt_cmds_session[] = {
  {"help h", "session", 0, "[WORD]",
   "Explain a command, an operator, an error or a topic.\n"
   "Without a word: everything there is a page on.\n"
   "?WORD is the same.\n"
   "Example: :help worlds", cmd_help},
  {"apropos", "session", 0, "WORD",
   "List the pages that speak of WORD.\n"
   "Example: :apropos file", cmd_apropos},
  {"quit q exit", "session", 0, "[CODE]",
   "Leave; the exit code is CODE or 0.  Ctrl-D does it too.\n"
   "Example: :quit", cmd_quit},
  {"set", "session", 0, "[NAME [VALUE]]",
   "Show or change a setting; without a name, show all.\n"
   "Those of printing are PyTorch's set_printoptions.\n"
   "Example: :set notes off", cmd_set},
  {"timing", "session", 0, "[on|off]",
   "Say after each line how long it took.\n"
   "Example: :timing on", cmd_timing},
  {"status", "session", 0, "",
   "What each rank is doing, and which world this is.\n"
   "Example: :status", cmd_status},
  {"o output", "files", 0, "[FILE]",
   "Write results to FILE from now on; without FILE, here again.\n"
   "Example: :o results.txt", cmd_o},
  {"transcript", "files", 0, "[FILE]",
   "Keep what is typed and shown in FILE; without FILE, stop.\n"
   "Example: :transcript session.txt", cmd_transcript},
  {NULL, NULL, 0, NULL, NULL, NULL}
};
