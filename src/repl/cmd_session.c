/* SPDX-License-Identifier: MIT
** repl/cmd_session.c: commands of the session itself: help, leaving,
** settings, files, what the ranks are doing. */
#include "repl/cmd.h"

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
  {"raw", "each rank's output by itself", offsetof(DtSettings, raw)},
  {"timing", "how long each line took", offsetof(DtSettings, timing)},
};
enum { NSETTINGS = sizeof settings / sizeof settings[0] };

static bool *setting (DtRepl *r, int i) {
  return (bool *)((char *)&r->set + settings[i].at);
}

static DtStatus cmd_set (DtCmdCall *c) {
  size_t n = strcspn(c->arg, " \t");
  const char *value = c->arg + n + strspn(c->arg + n, " \t");
  for (int i = 0; i < NSETTINGS; i++) {
    bool *v = setting(c->r, i);
    if (n == 0) {
      dt_buf_addf(c->out, "%-8s %-4s %s\n", settings[i].name,
                  *v ? "on" : "off", settings[i].text);
      continue;
    }
    if (strlen(settings[i].name) != n ||
        memcmp(settings[i].name, c->arg, n) != 0)
      continue;
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
  return n == 0 ? DT_OK
                : dt_cmd_error(c, 0, "the settings are findings, notes, raw, timing");
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
  return st;
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
  {"set", "session", 0, "[NAME on|off]",
   "Show or change a setting.\n"
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
