/* SPDX-License-Identifier: MIT
** repl/cmd_record.c: the record as a whole: on and off, its size, to a file
** and back, two of them compared, the script run again.
**
** Each rank writes its own part into one file at a place all have agreed on;
** so a file is made without moving the parts. */
#include "base/error_tool.h"
#include "repl/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "bind/field.h"
#include "debug/dump.h"
#include "diag/finding.h"

/* ---- sources go along ---- */

static bool get_source (void *ud, const char *name, DtBuf *out) {
  DtRepl *r = ud;
  size_t n;
  const char *s;
  for (int line = 1; (s = dtL_source_line(r->L, name, line, &n)) != NULL;
       line++) {
    dt_buf_addn(out, s, n);
    dt_buf_addc(out, '\n');
  }
  return out->len > 0;
}

typedef struct Put { const char *name, *text; size_t n; } Put;

static int put_protected (lua_State *L) {
  const Put *p = lua_touserdata(L, 1);
  dtL_source_add(L, p->name, p->text, p->n);
  return 0;
}

static void put_source (void *ud, const char *name, const char *text,
                        size_t n) {
  DtRepl *r = ud;
  Put p = {name, text, n};
  lua_pushcfunction(r->L, put_protected);
  lua_pushlightuserdata(r->L, &p);
  if (lua_pcall(r->L, 1, 0, 0) != LUA_OK)
    lua_pop(r->L, 1);
}

/* ---- writing ---- */

/* What a rank puts into the file: parts of `n` ranks, and the sizes of all. */
typedef struct Saving {
  DtRepl *r;
  const char *name, *path;      /* as it is asked for; what is written first */
  int n, me;
  DtBuf part;
  bool packed;
  uint64_t *len, *hash;
} Saving;

/* Lengths and hashes of the parts that are packed by now, to all. */
static DtStatus share_sizes (Saving *s) {
  DtRepl *r = s->r;
  DtCtx *cx = r->cx;
  const DtBuf *part = &s->part;
  int n = s->n;
  DtCollInfo info = {"write the record", 0, "", "", ""};
  char mine[64];
  int k = snprintf(mine, sizeof mine, "%llu %llu",
                   s->packed ? (unsigned long long)part->len : 0,
                   (unsigned long long)dt_dump_hash(dt_buf_str(part),
                                                    part->len));
  char **text = DT_NEWN(cx, char *, n);
  size_t *size = DT_NEWN(cx, size_t, n);
  DtStatus st = text != NULL && size != NULL ? DT_OK : DT_E_NOMEM;
  if (st == DT_OK)
    st = dt_comm_gather_text(cx, r->comm->world, &info, mine, (size_t)k, text,
                             size);
  for (int i = 0; i < n && text != NULL; i++) {
    char *end = NULL;
    if (st == DT_OK) {
      s->len[i] = strtoull(text[i], &end, 10);
      s->hash[i] = strtoull(end, NULL, 10);
    }
    dt_free(cx, text[i]);
  }
  dt_free(cx, text);
  dt_free(cx, size);
  return st;
}

static bool write_at (int fd, const char *s, size_t n, uint64_t at) {
  while (n > 0) {
    ssize_t k = pwrite(fd, s, n, (off_t)at);
    if (k < 0 && errno == EINTR)
      continue;
    if (k <= 0)
      return false;
    s += k;
    n -= (size_t)k;
    at += (uint64_t)k;
  }
  return true;
}

/* Did all ranks come to the `step`-th meeting without an error? */
static DtStatus all_well (const Saving *s, uint64_t step, DtStatus st) {
  DtCollInfo info = {"write the record", step, "", "", ""};
  if (s->n == 1)
    return st;
  DtStatus all = dt_comm_agree(s->r->cx, s->r->comm->world, &info, st);
  return st != DT_OK ? st : all;
}

/* A part goes to its place once; the head, by rank 0, each time sizes are known.
** `anew`: into a new file. */
static DtStatus write_part (const Saving *s, bool anew) {
  DtCtx *cx = s->r->cx;
  uint64_t at = dt_dump_head_size(s->n);
  DtBuf b;
  int fd = open(s->path, O_WRONLY | O_CLOEXEC | (anew ? O_CREAT | O_TRUNC : 0),
                0666);
  bool ok = fd >= 0;
  for (int i = 0; i < s->me; i++)
    at += s->len[i];
  dt_buf_init(&b, cx);
  if (s->me == 0)
    dt_dump_head(&b, s->n, s->r->comm->size, s->len, s->hash);
  ok = ok && dt_buf_ok(&b) == DT_OK &&
       write_at(fd, dt_buf_str(&b), b.len, 0) &&
       ((s->me == 0 && !anew) ||
        write_at(fd, dt_buf_str(&s->part), s->part.len, at));
  DtStatus st = ok ? DT_OK : dt_raise(cx, DT_E_IO, "cannot write %s: %s",
                                      s->name, strerror(errno));
  if (fd >= 0)
    close(fd);
  dt_buf_fini(&b);
  return st;
}

/* Rank 0 makes the file, with its part, behind which others pack theirs. */
static DtStatus write_first (Saving *s) {
  DtCtx *cx = s->r->cx;
  const char *other = dt_dump_is_other(s->name) ? s->name
    : dt_dump_is_other(s->path) ? s->path : NULL;
  DT_CHECK(cx, other == NULL, DT_E_IO, "%s is there and holds no "
           "record; give a name of its own", other);
  DT_TRY(cx, dt_dump_pack(cx, &s->part, NULL, 0));
  s->packed = true;
  s->len[0] = s->part.len;
  s->hash[0] = dt_dump_hash(dt_buf_str(&s->part), s->part.len);
  return write_part(s, true);
}

static DtStatus pack_behind_base (Saving *s) {
  DtCtx *cx = s->r->cx;
  char *base = NULL;
  size_t n = 0;
  DT_TRY(cx, dt_dump_part(cx, s->path, dt_dump_base(s->me), &base, &n));
  DtStatus st = dt_dump_pack(cx, &s->part, base, n);
  dt_free(cx, base);
  s->packed = true;
  return st;
}

/* Rank 0, then the ranks whose base is in the file, twice as many each time. */
static DtStatus write_parts (Saving *s) {
  DtStatus st = all_well(s, 1, s->me == 0 ? write_first(s) : DT_OK);
  for (int first = 1; first < s->n && st == DT_OK; first *= 2) {
    bool mine = s->me >= first && s->me / 2 < first;
    st = all_well(s, 2, mine ? pack_behind_base(s) : DT_OK);
    if (st == DT_OK)
      st = all_well(s, 3, share_sizes(s));
    if (st == DT_OK)
      st = all_well(s, 4, mine || s->me == 0 ? write_part(s, false) : DT_OK);
  }
  return st;
}

/* Rank 0: what was written gets its name; when it could not be, what was there
** before stays. */
static DtStatus name_file (const Saving *s, DtStatus st) {
  DtCtx *cx = s->r->cx;
  if (s->path == s->name || s->me != 0)
    return st;
  if (st != DT_OK) {
    if (s->packed)              /* else it is not ours */
      (void)remove(s->path);
    return st;
  }
  struct stat old;              /* rights stay what they are */
  if (stat(s->name, &old) == 0)
    (void)chmod(s->path, old.st_mode & 07777);
  DT_CHECK(cx, rename(s->path, s->name) == 0, DT_E_IO, "cannot write %s: %s",
           s->name, strerror(errno));
  return DT_OK;
}

/* The file beside it that is written; what is no file of a disk is written
** itself. */
static char *path_beside (DtCtx *cx, const char *path) {
  struct stat at;
  size_t n = strlen(path) + 6;
  if (lstat(path, &at) == 0 && !S_ISREG(at.st_mode))
    return NULL;
  char *s = dt_alloc(cx, n);
  if (s != NULL)
    snprintf(s, n, "%s.part", path);
  return s;
}

/* Findings go along with the record. */
static void get_found (void *ud, DtBuf *out) {
  const DtDiag *g = dt_diag_of(((DtRepl *)ud)->s);
  if (g != NULL)
    dt_diag_write(g, out);
}

static void put_found (void *ud, const char *p, size_t n) {
  DtDiag *g = dt_diag_of(((DtRepl *)ud)->s);
  if (g != NULL)
    dt_diag_read(g, p, n);
}

/* Collective: what the ranks found is settled first, each writes its part,
** rank 0 the file. A rank without memory makes all of them stop together
** (all_well). */
DtStatus dt_record_save (DtRepl *r, const char *path) {
  DtCtx *cx = r->cx;
  DtDebug *d = dt_debug_of(r->s);
  DtDumpSources src = {r, get_source, put_source, get_found, put_found};
  Saving s = {.r = r, .name = path, .path = path, .n = r->comm->no_data ? 1 : r->comm->size};
  DT_CHECK(cx, !r->app->o.sandbox || r->app->o.alone, DT_E_SANDBOX,
           "no files in the sandbox: %s", path);
  DT_CHECK(cx, d != NULL, DT_E_COMMAND, "nothing records");
  s.me = s.n == 1 ? 0 : r->comm->rank;
  s.len = DT_NEWN(cx, uint64_t, s.n);
  s.hash = DT_NEWN(cx, uint64_t, s.n);
  dt_buf_init(&s.part, cx);
  char *beside = path_beside(cx, path);
  if (beside != NULL)
    s.path = beside;
  if (dt_diag_of(r->s) != NULL && dt_diag_settle(dt_diag_of(r->s)) != DT_OK)
    dt_error_clear(cx);           /* without what only all ranks know */
  DtStatus st = s.len != NULL && s.hash != NULL
    ? dt_dump_write(d, &src, true, &s.part) : DT_E_NOMEM;
  st = all_well(&s, 0, st);
  if (st == DT_OK)
    st = all_well(&s, 5, name_file(&s, write_parts(&s)));
  dt_free(cx, beside);
  dt_free(cx, s.len);
  dt_free(cx, s.hash);
  dt_buf_fini(&s.part);
  return st;
}

DtStatus dt_record_open (DtRepl *r, const char *path) {
  DtCtx *cx = r->cx;
  DtDebug *d = dt_debug_of(r->s);
  DtDumpSources src = {r, get_source, put_source, get_found, put_found};
  int ranks = 0, world = 0, mine = r->comm->no_data ? 1 : r->comm->size;
  char *p = NULL;
  size_t n = 0;
  DT_CHECK(cx, !r->app->o.sandbox, DT_E_SANDBOX, "no files in the sandbox: %s",
           path);
  DT_TRY(cx, dt_dump_peek(cx, path, &ranks, &world));
  DT_CHECK(cx, ranks == mine && world == r->comm->size, DT_E_IO,
           "%s is a record of %d ranks, these are %d: dtrepl %s %d --open %s",
           path, world, r->comm->size, world > ranks ? "--fake" : "-n", world,
           path);
  DT_TRY(cx, dt_dump_part(cx, path, mine == 1 ? 0 : r->comm->rank, &p, &n));
  DtStatus st = dt_dump_read(d, &src, p, n);
  dt_free(cx, p);
  return st;
}

/* ---- :record ---- */

static void show_record (const DtDebug *d, DtBuf *out) {
  const DtRecord *k = &d->rec;
  dt_buf_addf(out, "recording %s; %d of at most %d operators, ",
              k->off ? "off" : "on", k->n, k->cap);
  dt_bytes_print(k->kept, out);
  dt_buf_add(out, " of values of at most ");
  dt_bytes_print(k->limit, out);
  dt_buf_addc(out, '\n');
}

static bool word_is (const char *s, const char *w, const char **rest) {
  size_t n = strlen(w);
  if (strncmp(s, w, n) != 0 || (s[n] != '\0' && s[n] != ' '))
    return false;
  *rest = s + n + strspn(s + n, " ");
  return true;
}

static DtStatus set_ring (DtCmdCall *c, const char *s) {
  char *end;
  long n = strtol(s, &end, 10);
  if (end == s || *end != '\0' || n < 1 || n > 1 << 20)
    return dt_cmd_error(c, (size_t)(s - c->arg),
                        "wanted a number of operators up to 1048576");
  DT_CHECK(c->r->cx, c->r->at == NULL, DT_E_COMMAND,
           "the ring cannot change while a script is stopped");
  return dt_record_reset(dt_debug_of(c->r->s), (int)n);
}

static DtStatus set_limit (DtCmdCall *c, const char *s) {
  char *end;
  double v = strtod(s, &end);
  if (*end == 'k' || *end == 'K')
    v *= 1 << 10, end++;
  else if (*end == 'm' || *end == 'M')
    v *= 1 << 20, end++;
  else if (*end == 'g' || *end == 'G')
    v *= 1 << 30, end++;
  if (end == s || *end != '\0' || v < 0 || v > 1e15)
    return dt_cmd_error(c, (size_t)(s - c->arg),
                        "wanted a number of bytes as 64M; 0 keeps no values");
  dt_record_limit(dt_debug_of(c->r->s), (int64_t)v);
  return DT_OK;
}

static DtStatus cmd_record (DtCmdCall *c) {
  DtDebug *d = dt_debug_of(c->r->s);
  const char *rest;
  if (*c->arg == '\0') {
    show_record(d, c->out);
    return DT_OK;
  }
  if (strcmp(c->arg, "on") == 0 || strcmp(c->arg, "off") == 0) {
    d->rec.off = c->arg[1] == 'f';
    return DT_OK;
  }
  if (word_is(c->arg, "ring", &rest))
    return set_ring(c, rest);
  if (word_is(c->arg, "limit", &rest))
    return set_limit(c, rest);
  if (word_is(c->arg, "save", &rest) && *rest != '\0') {
    DT_TRY(c->r->cx, dt_record_save(c->r, rest));
    dt_buf_addf(c->out, "%d operators in %s; dtrepl --open %s\n", d->rec.n,
                rest, rest);
    return DT_OK;
  }
  if (word_is(c->arg, "open", &rest) && *rest != '\0') {
    DT_CHECK(c->r->cx, c->r->at == NULL, DT_E_COMMAND,
             "a script is stopped; :continue or :kill it first");
    DT_TRY(c->r->cx, dt_record_open(c->r, rest));
    show_record(d, c->out);
    return DT_OK;
  }
  return dt_cmd_error(c, 0, "wanted on, off, ring N, limit BYTES, save FILE or "
                      "open FILE");
}

/* ---- :diff ---- */

/* "now", "last" or a file: a record, set aside in `own` when it is a file's. */
static DtStatus get_record (DtRepl *r, const char *name, const DtRecord **k,
                            DtRecord *own) {
  DtDebug *d = dt_debug_of(r->s);
  DtRecord now;
  if (strcmp(name, "now") == 0) {
    *k = &d->rec;
    return DT_OK;
  }
  if (strcmp(name, "last") == 0) {
    DT_CHECK(r->cx, d->last.ring != NULL, DT_E_COMMAND,
             "there is no run before this one (:rerun makes one)");
    *k = &d->last;
    return DT_OK;
  }
  DT_TRY(r->cx, dt_record_take(d, 16, &now));
  DtStatus st = dt_record_open(r, name);
  *own = d->rec;
  d->rec = now;
  *k = own;
  if (st != DT_OK)
    dt_record_drop(d, own);
  return st;
}

typedef struct Diff { const DtRecDiff *res; char *const *name; } Diff;

static void set_place (lua_State *L, const char *key, const DtRecOp *op) {
  lua_createtable(L, 0, 4);
  dtL_set_int(L, "seq", op->seq);
  dtL_set_str(L, "op", op->label);
  dtL_set_str(L, "file", op->file ? op->file : "");
  dtL_set_int(L, "line", op->line);
  lua_setfield(L, -2, key);
}

/* {same, equal, first = {a, b}, a = {name, operators, collectives, bytes}, b}
** as DT_KEY_ANSWER. */
static int answer_diff (lua_State *L) {
  static const char *const key[2] = {"a", "b"};
  const Diff *p = lua_touserdata(L, 1);
  lua_createtable(L, 0, 5);
  dtL_set_bool(L, "same", p->res->same);
  dtL_set_int(L, "equal", p->res->equal);
  for (int i = 0; i < 2; i++) {
    const DtRecSum *s = &p->res->sum[i];
    lua_createtable(L, 0, 4);
    dtL_set_str(L, "name", p->name[i]);
    dtL_set_int(L, "operators", s->ops);
    dtL_set_int(L, "collectives", s->colls);
    dtL_set_int(L, "bytes", s->bytes);
    lua_setfield(L, -2, key[i]);
  }
  if (p->res->at[0] != NULL) {
    lua_createtable(L, 0, 2);
    for (int i = 0; i < 2; i++)
      set_place(L, key[i], p->res->at[i]);
    lua_setfield(L, -2, "first");
  }
  lua_setfield(L, LUA_REGISTRYINDEX, DT_KEY_ANSWER);
  return 0;
}

/* The records that were opened for it are dropped afterwards; "now" and "last"
** are the session's own and stay. */
static DtStatus cmd_diff (DtCmdCall *c) {
  DtRepl *r = c->r;
  DtDebug *d = dt_debug_of(r->s);
  DtRecord own[2];
  const DtRecord *k[2] = {NULL, NULL};
  DtRecDiff res;
  size_t n = strcspn(c->arg, " ");
  const char *second = c->arg + n + strspn(c->arg + n, " ");
  if (n == 0)
    return dt_cmd_error(c, 0, "wanted two records: files, now, last");
  memset(own, 0, sizeof own);
  char *name[2] = {dt_strndup(r->cx, c->arg, n),
                   dt_strdup(r->cx, *second != '\0' ? second : "now")};
  DtStatus st = name[0] != NULL && name[1] != NULL ? DT_OK : DT_E_NOMEM;
  for (int i = 0; i < 2 && st == DT_OK; i++)
    st = get_record(r, name[i], &k[i], &own[i]);
  if (st == DT_OK) {
    Diff p = {&res, name};
    dt_record_diff(d, k[0], name[0], k[1], name[1], c->out, &res);
    lua_pushcfunction(r->L, answer_diff);
    lua_pushlightuserdata(r->L, &p);
    if (lua_pcall(r->L, 1, 0, 0) != LUA_OK)
      st = dtL_catch(r->L, DT_E_NOMEM);
  }
  for (int i = 0; i < 2; i++) {
    if (own[i].ring != NULL)
      dt_record_drop(d, &own[i]);
    dt_free(r->cx, name[i]);
  }
  return st;
}

/* ---- :rerun ---- */

/* Before a script: what a second run needs to be the same. */
void dt_rerun_remember (DtRepl *r, const char *text, size_t n,
                        const char *name) {
  DtRerun *k = &r->rerun;
  char *copy = dt_strndup(r->cx, text, n), *called = dt_strdup(r->cx, name);
  if (copy == NULL || called == NULL) {
    dt_error_clear(r->cx);
    dt_free(r->cx, copy);
    dt_free(r->cx, called);
    return;
  }
  dt_free(r->cx, k->text);
  dt_free(r->cx, k->name);
  k->text = copy;
  k->name = called;
  k->n = n;
  k->seq = r->s->seq;
  k->rng = r->s->rng;
}

/* Afterwards, outside any text: run it again when that was asked. */
bool dt_rerun_pending (DtRepl *r) {
  return r->rerun.asked && r->at == NULL && !r->quit && !r->lost;
}

/* From the state before the script: sequence numbers and generators are set
** back, the first run's record is kept as "last". The text is copied, since a
** :run within it replaces what is remembered. */
DtStatus dt_rerun_run (DtRepl *r) {
  DtRerun *k = &r->rerun;
  DtDebug *d = dt_debug_of(r->s);
  DtControl *c = dt_control_of(r->s);
  int64_t to = k->to;
  k->asked = false;
  dt_record_drop(d, &d->last);
  dt_record_drop(d, &d->typed);
  DT_TRY(r->cx, dt_record_take(d, d->rec.cap, &d->last));
  d->last.since = k->seq;
  r->s->seq = k->seq;
  r->s->rng = k->rng;
  d->from = k->seq + 1;
  d->names_file = NULL;
  c->attached = true;
  if (to > 0)
    dt_control_until(c, to, NULL, 0);
  dt_control_arm(c);
  char *text = dt_strndup(r->cx, k->text, k->n);  /* :rerun within it */
  char *name = dt_strdup(r->cx, k->name);
  DtStatus st = text != NULL && name != NULL
    ? dt_eval_script(r->L, text, k->n, name, r->app->o.nargs, r->app->o.args,
                     &r->diag)
    : DT_E_NOMEM;
  c->attached = false;
  dt_free(r->cx, text);
  dt_free(r->cx, name);
  return st;
}

/* Within a stop the script has to end first: it is asked for here and done by
** the shell once it has left. */
static DtStatus cmd_rerun (DtCmdCall *c) {
  DtRepl *r = c->r;
  const char *s = c->arg;
  char *end;
  long n = 0;
  if (strncmp(s, "to ", 3) == 0)
    s += 3 + strspn(s + 3, " ");
  if (*s != '\0') {
    const char *num = *s == '#' ? s + 1 : s;
    n = strtol(num, &end, 10);
    if (end == num || *end != '\0' || n <= 0)
      return dt_cmd_error(c, (size_t)(s - c->arg),
                          "wanted an operator as #7, or nothing");
  }
  DT_CHECK(r->cx, r->rerun.text != NULL, DT_E_COMMAND,
           "no script has been run (:run FILE); lines that were typed: "
           ":save FILE, then :load FILE runs them again");
  r->rerun.asked = true;
  r->rerun.to = n;
  if (r->at != NULL)
    dt_control_go(dt_control_of(r->s), DT_GO_QUIT);
  return DT_OK;
}

const DtCmd dt_cmds_record[] = {
  {"rerun", "time", 0, "[to #N]",
   "Run the last script again from its beginning, with the same numbers and\n"
   "random values; with #N, stop before that operator.  A script that is\n"
   "stopped is ended first.  The run before is called last in :diff.\n"
   "Example: :rerun to #5", cmd_rerun},
  {"diff", "time", 0, "A [B]",
   "Compare two records: files, last (the run before :rerun), now.\n"
   "Shows the first operator that differs and what, and the sums.\n"
   "Example: :diff last now", cmd_diff},
  {"record", "time", 0, "[on|off|ring N|limit BYTES|save FILE|open FILE]",
   "The record of operators: its state; on and off; how many operators and\n"
   "how many bytes of values it keeps; to a file and back.\n"
   "dtrepl --record FILE script.lua writes it at the end, also when the\n"
   "script fails; dtrepl --open FILE looks at it without the script.\n"
   "Example: :record", cmd_record},
  {NULL, NULL, 0, NULL, NULL, NULL}
};
