/* SPDX-License-Identifier: MIT
** repl/repl_one.c: a program that ended well and of which nothing was found is
** run on one rank as well, and compared (diag/one_rank.h).
**
** Rank 0 starts that run in a process of its own, without files; the others
** wait.  Where a number that both read differs, all records are gathered and
** compared.  Nothing of it is said unless something is found. */
#include "base/error_comm.h"
#include "base/error_tool.h"
#include "repl/repl_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bind/tool.h"
#include "debug/dump.h"
#include "diag/one_rank.h"
#include "diag/relate.h"

enum { MAX_WORDS = 28 };

/* Seconds: what a program may have taken to be run again, and what that run may
** take: some times as long, since a machine that has much to do slows down both;
** a program that never ends on one rank must not keep a person waiting. */
enum { MOST_SECONDS = 20, LEAST_GIVEN = 2, MOST_GIVEN = 10, TIMES_GIVEN = 5 };

static const size_t MOST_BYTES = (size_t)64 << 20;

static bool is_wanted (void) {
  const char *word = getenv("DTREPL_ALONE");
  return word == NULL || strcmp(word, "no") != 0;
}

/* Is it a program that can be run again?  By options and the world, which are the
** same on every rank. */
static bool is_program (const DtRepl *r) {
  const DtOptions *o = &r->app->o;
  return is_wanted() && r->findings != NULL && !o->fast && !o->sandbox &&
         !o->alone && !o->debug && o->nprelude == 0 && o->nargs <= 8 &&
         (!o->quiet || o->strict) && r->app->editor == NULL && o->script != NULL &&
         strcmp(o->script, "-") != 0 && !r->comm->no_data && dt_comm_running(r->comm) > 1 &&
         r->comm->size <= DT_RELATE_RANKS;
}

static bool found_nothing (const DtDiag *g) {
  const DtFinding *f;
  for (int i = 0; (f = dt_diag_at(g, i)) != NULL; i++)
    if (f->kind->severity != DT_FIND_NOTE)
      return false;
  return true;
}

/* Has it ended well here?  The ranks may differ: where lines are piped in, an error
** at which the first rank stopped is in its code until all leave. */
static bool may_compare (const DtRepl *r) {
  return !r->lost && r->status == DT_OK && r->code == DT_EXIT_OK &&
         found_nothing(r->findings) && dt_diag_may_compare(&dt_debug_of(r->s)->rec);
}

/* Texts of all ranks into r->found; false: they are not there. */
static bool gather (DtRepl *r, const char *text, size_t n) {
  DtCollInfo info = {"compare with one rank", 0, "", "", ""};
  DtStatus st = dt_comm_gather_text(r->cx, r->comm->world, &info, text, n,
                                    r->found, r->found_len);
  if (st == DT_E_RANK_LOST)
    dt_repl_lost(r);
  dt_error_clear(r->cx);
  return st == DT_OK;
}

static void drop_gathered (DtRepl *r) {
  for (int i = 0; i < r->comm->size; i++) {
    dt_free(r->cx, r->found[i]);
    r->found[i] = NULL;
  }
}

/* true where it is so on every rank.  Needs no memory that could be missing on
** one of them only: all ranks go on, or none. */
static bool all_say (DtRepl *r, bool mine) {
  DtCollInfo info = {"compare with one rank", 1, "", "", ""};
  DtStatus st = dt_comm_agree(r->cx, r->comm->world, &info,
                              mine ? DT_OK : DT_E_COMMAND);
  if (st == DT_E_RANK_LOST)
    dt_repl_lost(r);
  dt_error_clear(r->cx);
  return st == DT_OK;
}

/* --- the run on one rank --- */

static double seconds_taken (const DtRepl *r) {
  return dt_repl_seconds() - r->app->began;
}

static int seconds_given (const DtRepl *r) {
  double most = TIMES_GIVEN * seconds_taken(r);
  return most < LEAST_GIVEN ? LEAST_GIVEN
       : most > MOST_GIVEN ? MOST_GIVEN : (int)most;
}

static DtStatus run_alone (DtRepl *r, const char *path) {
  DtOptions *o = &r->app->o;
  char seconds[16], *word[MAX_WORDS];
  int n = 0, code = DT_EXIT_ERROR;
  snprintf(seconds, sizeof seconds, "%d", seconds_given(r));
  word[n++] = seconds;
  word[n++] = (char *)(size_t)path;
  if (o->torch != NULL) {
    word[n++] = (char *)(size_t)"--torch";
    word[n++] = (char *)(size_t)o->torch;
  }
  if (o->device != NULL) {
    word[n++] = (char *)(size_t)"--device";
    word[n++] = (char *)(size_t)o->device;
  }
  word[n++] = (char *)(size_t)o->script;
  for (int i = 0; i < o->nargs; i++) word[n++] = o->args[i];
  DT_TRY(r->cx, dtL_tool_run(r->cx, "dt.across.alone", n, word, &code));
  return code == DT_EXIT_OK ? DT_OK : DT_E_COMMAND;
}

/* A record in the place of this rank's, and back: `own` has it afterwards. */
static DtStatus read_record (DtRepl *r, const char *p, size_t n,
                             DtRecord *own) {
  DtDebug *d = dt_debug_of(r->s);
  DtRecord now;
  DT_TRY(r->cx, dt_record_take(d, 16, &now));
  DtStatus st = dt_dump_read(d, NULL, p, n);
  *own = d->rec;
  d->rec = now;
  if (st != DT_OK)
    dt_record_drop(d, own);
  return st;
}

/* Rank 0: the record of the run on one rank; DT_E_COMMAND where there is none. */
static DtStatus make_one (DtRepl *r, DtRecord *one) {
  const char *dir = getenv("TMPDIR");
  char path[512], *p = NULL;
  size_t n = 0;
  snprintf(path, sizeof path, "%s/dtrepl-XXXXXX",
           dir != NULL && *dir == '/' ? dir : "/tmp");
  int fd = mkstemp(path);
  if (fd < 0)
    return DT_E_COMMAND;
  close(fd);
  DtStatus st = seconds_taken(r) > MOST_SECONDS ? DT_E_COMMAND
                                                 : run_alone(r, path);
  if (st == DT_OK)
    st = dt_dump_part(r->cx, path, 0, &p, &n);
  if (st == DT_OK)
    st = read_record(r, p, n, one);
  dt_free(r->cx, p);
  unlink(path);
  return st;
}

/* --- the comparison --- */

static DtStatus compare_all (DtRepl *r, const DtRecord *one) {
  DtDebug *d = dt_debug_of(r->s);
  int n = r->comm->size, k = 1;
  DtRecord own[DT_RELATE_RANKS];
  const DtRecord *rank[DT_RELATE_RANKS] = {&d->rec};
  const char *why;
  DtStatus st = DT_OK;
  for (; k < n && st == DT_OK; k++) {
    st = r->found_len[k] > 0
           ? read_record(r, r->found[k], r->found_len[k], &own[k])
           : DT_E_COMMAND;
    if (st == DT_OK)
      rank[k] = &own[k];
    else
      break;
  }
  if (st == DT_OK)
    st = dt_diag_compare_one(r->findings, n, rank, one, &why);
  while (--k > 0) dt_record_drop(d, &own[k]);
  return st;
}

/* Every rank sends its record; an empty one where it is too large. */
static void compare_records (DtRepl *r, const DtRecord *one) {
  DtBuf mine;
  dt_buf_init(&mine, r->cx);
  if (dt_dump_write(dt_debug_of(r->s), NULL, true, &mine) != DT_OK ||
      mine.oom || mine.len * (size_t)r->comm->size > MOST_BYTES)
    dt_buf_clear(&mine);
  dt_error_clear(r->cx);
  bool there = gather(r, dt_buf_str(&mine), mine.len);
  dt_buf_fini(&mine);
  if (all_say(r, there) && dt_repl_first(r) && compare_all(r, one) != DT_OK)
    dt_error_clear(r->cx);
  drop_gathered(r);
}

void dt_repl_compare_one (DtRepl *r) {
  DtDebug *d = dt_debug_of(r->s);
  DtRecord one = {.ring = NULL};
  bool differs = false;
  if (!is_program(r) || !all_say(r, may_compare(r)))
    return;
  if (dt_repl_first(r)) {
    DtStatus st = make_one(r, &one);
    dt_error_clear(r->cx);
    if (st == DT_OK && dt_diag_may_compare(&one) &&
        dt_diag_claims_differ(r->cx, &d->rec, &one, &differs) != DT_OK)
      dt_error_clear(r->cx);
  }
  if (all_say(r, !dt_repl_first(r) || differs))
    compare_records(r, &one);
  if (one.ring != NULL)
    dt_record_drop(d, &one);
}
