/* SPDX-License-Identifier: MIT
** parity/run.c: the loop over files and lines, counting, the report.
**
** Lines are read one at a time; a line's kind is known by its id, so files
** may be cut, joined and renamed.  Candidate tables refer to cases that stand
** in other files: they wait until all files are read, then the cases are
** looked up among the files given and their neighbours. */
#include "parity/parity_int.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* First row that fits; order matters where prefixes nest. */
const DtSuite dt_suites[] = {
  { "layout/shard.", NULL, dt_check_shards },
  { "layout/order.", NULL, dt_check_order },
  { "layout/cost.", NULL, dt_check_cost },
  { "redist/plan.", NULL, dt_check_plan },
  { "redist/flat.", NULL, dt_check_flat },
  { "redist/coll.", NULL, dt_check_collectives },
  { "redist/value.", NULL, dt_check_values },
  { "mesh/program.", NULL, dt_check_program },
  { "mesh/init.", NULL, dt_check_init },
  { "mesh/equal/", NULL, dt_check_init },
  { "mesh/repr_detail/", NULL, dt_check_init },
  { "mesh/current/", NULL, dt_check_init },
  { "submesh/", NULL, dt_check_release },
  { "seed3/", NULL, dt_check_seed },
  { "prop/", "args", dt_check_prop },
  { "prop/", "case", dt_check_cands },
  { "registry/single_dim/", NULL, dt_check_rules },
  { "registry/decomp/", "result", dt_check_decomp },
  { "registry/decomp/", "error", dt_check_refused },
  { "registry/not_sampled/", NULL, dt_check_known },
  { "registry/", "via", dt_check_op },
  { "values/fwd/", NULL, dt_check_forward },
  { "values/grad/", NULL, dt_check_grad },
  { "values/promo/", NULL, dt_check_promotion },
  { "values/err/", NULL, dt_check_called },
  { "values/dec/", NULL, dt_check_decompose },
  { "mixed/", NULL, dt_check_mixed },
  { NULL, NULL, NULL }
};

/* How one operator (or topic) did. */
typedef struct OpCount {
  char *name;
  int64_t pass, fail, skip, unknown;
} OpCount;

/* A candidate table that waits for its case. */
typedef struct Waiting {
  json_t *line;
  bool done;
} Waiting;

typedef struct Run {
  DtParity p;
  DtCtx *cx;
  const DtParityOpts *o;
  DtParityCount *count;
  int64_t shown;
  DtMap ops;                    /* name -> OpCount */
  int nwait, cap;
  Waiting *wait;
  DtMap waiting;                /* id -> Waiting index + 1 */
  DtBuf out;
  DtBuf later;                  /* ids for the library, each after a '\n' */
  struct timespec start;
  int64_t told;                 /* seconds at the last progress text */
} Run;

/* {==== Reporting ==== */

static void put_line (Run *r) {
  const char *s = dt_buf_str(&r->out);
  if (r->o->put != NULL)
    r->o->put(r->o->ud, s);
  dt_buf_clear(&r->out);
}

/* Every 256 lines, once a second. */
static void tell_progress (Run *r) {
  const DtParityCount *c = r->count;
  int64_t done = c->pass + c->fail + c->skip + c->open;
  struct timespec now;
  char text[80];
  if (r->o->progress == NULL || done % 256 != 0)
    return;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  if (now.tv_sec - r->start.tv_sec <= r->told)
    return;
  r->told = now.tv_sec - r->start.tv_sec;
  (void)snprintf(text, sizeof text, "%lld cases, %lld differ",
                 (long long)done, (long long)c->fail);
  r->o->progress(r->o->ud, text);
}

/* A text on one line. */
static void add_flat (DtBuf *b, const char *s) {
  for (; *s != '\0'; s++) {
    if (*s == '\n')
      dt_buf_add(b, "\\n");
    else
      dt_buf_addc(b, *s);
  }
}

/* The operator of a line: "op", "fn", or the topic in the id. */
static void topic_of (const json_t *line, char *out, size_t size) {
  const char *id = dt_jstr(line, "id"), *op = dt_jstr(line, "op");
  if (op == NULL)
    op = dt_jstr(line, "fn");
  if (op != NULL) {
    (void)snprintf(out, size, "%s", op);
    return;
  }
  const char *end = id != NULL ? strrchr(id, '/') : NULL;
  (void)snprintf(out, size, "%.*s", end != NULL ? (int)(end - id) : 1,
                 end != NULL ? id : "?");
}

static OpCount *count_of (Run *r, const json_t *line) {
  char name[256];
  topic_of(line, name, sizeof name);
  OpCount *c = dt_map_get_str(&r->ops, name);
  if (c != NULL)
    return c;
  c = DT_NEW(r->cx, OpCount);
  if (c == NULL)
    return NULL;
  c->name = dt_strdup(r->cx, name);
  if (c->name == NULL || dt_map_put_str(&r->ops, c->name, c) != DT_OK) {
    dt_free(r->cx, c->name);
    dt_free(r->cx, c);
    return NULL;
  }
  return c;
}

static void tell_failure (Run *r, const char *id) {
  if (r->o->show >= 0 && r->shown >= r->o->show)
    return;
  r->shown++;
  dt_buf_addf(&r->out, "%s: ", id);
  add_flat(&r->out, dt_buf_str(&r->p.why));
  dt_buf_addc(&r->out, '\n');
  put_line(r);
}

static int by_name (const void *a, const void *b) {
  const OpCount *const *x = a, *const *y = b;
  return strcmp((*x)->name, (*y)->name);
}

static void tell_op (Run *r, const OpCount *c) {
  if (c->unknown > 0)
    dt_buf_addf(&r->out, "%s: %lld skipped, operator not registered\n",
                c->name, (long long)c->unknown);
  if (c->unknown > 0)
    put_line(r);
  if (r->o->by_op && c->fail > 0) {
    dt_buf_addf(&r->out, "%s: %lld of %lld failed\n", c->name,
                (long long)c->fail,
                (long long)(c->pass + c->fail + c->skip));
    put_line(r);
  }
}

static DtStatus tell_ops (Run *r) {
  int32_t it = 0, n = 0;
  DtMapEntry *e;
  OpCount **list = DT_NEWN(r->cx, OpCount *, dt_map_count(&r->ops) + 1);
  if (list == NULL)
    return DT_E_NOMEM;
  while ((e = dt_map_next(&r->ops, &it)) != NULL)
    list[n++] = e->value;
  qsort(list, (size_t)n, sizeof *list, by_name);
  for (int32_t i = 0; i < n; i++)
    tell_op(r, list[i]);
  dt_free(r->cx, list);
  return DT_OK;
}

/* Data does not say which release answered it: after a failure the reader must
** know which one it was compared with, and why. */
static void tell_assumed (Run *r) {
  dt_buf_addf(&r->out, "compared with PyTorch %s by the names of the files' "
              "folders: where another release answered them, say --torch X\n",
              r->o->torch);
  put_line(r);
}

/* The counts: the last line, as scripts expect them. */
static void tell_total (Run *r) {
  const DtParityCount *c = r->count;
  if (c->fail > 0 && r->o->assumed)
    tell_assumed(r);
  dt_buf_addf(&r->out, "%lld passed, %lld failed", (long long)c->pass,
              (long long)c->fail);
  if (c->skip > 0)
    dt_buf_addf(&r->out, ", %lld skipped", (long long)c->skip);
  if (c->open > 0)
    dt_buf_addf(&r->out, ", %lld undetermined", (long long)c->open);
  dt_buf_addc(&r->out, '\n');
  put_line(r);
}

/* }==== One line ==== */

static const DtSuite *suite_of (const json_t *line) {
  const char *id = dt_jstr(line, "id");
  for (const DtSuite *s = dt_suites; id != NULL && s->prefix != NULL; s++)
    if (strncmp(id, s->prefix, strlen(s->prefix)) == 0 &&
        (s->key == NULL || json_object_get(line, s->key) != NULL))
      return s;
  return NULL;
}

/* Told as a line that differs, counted apart. */
static void tell_open (Run *r, const char *id) {
  const DtOpenRule *rule = r->p.open;
  dt_buf_clear(&r->p.why);
  dt_buf_add(&r->p.why, "undetermined: ");
  if (r->p.nopen > 0)
    dt_buf_addf(&r->p.why, "%d element%s: ", r->p.nopen,
                r->p.nopen > 1 ? "s" : "");
  dt_buf_addf(&r->p.why, "%s (%s)", rule->why, rule->run);
  tell_failure(r, id);
}

/* One captured line.  Open rows (several answers are right, or PyTorch's is
** known not to be determined) count apart from passes, and lines that need the
** Lua library are kept for later. */
static void check_line (Run *r, const json_t *line) {
  const DtSuite *s = suite_of(line);
  OpCount *c = count_of(r, line);
  dt_parity_reset(&r->p);
  r->p.line = line;
  bool ok = s != NULL && s->fn(&r->p, line);
  if (s == NULL)
    r->p.skipped = true;
  if (r->p.skipped && r->p.library && r->o->program != NULL) {
    dt_buf_addf(&r->later, "\n%s", dt_jstr(line, "id"));
    return;
  }
  if (!r->p.skipped && (ok ? r->p.nopen > 0 : dt_open_line(&r->p))) {
    r->count->open++;
    tell_progress(r);
    tell_open(r, dt_jstr(line, "id"));
    return;
  }
  if (r->p.skipped)
    r->count->skip++;
  else if (ok)
    r->count->pass++;
  else
    r->count->fail++;
  if (c != NULL) {
    c->skip += r->p.skipped;
    c->unknown += r->p.skipped && r->p.unknown != NULL;
    c->pass += !r->p.skipped && ok;
    c->fail += !r->p.skipped && !ok;
  }
  tell_progress(r);
  if (!r->p.skipped && !ok)
    tell_failure(r, dt_jstr(line, "id"));
}

static bool wanted (const Run *r, const json_t *line) {
  const char *id = dt_jstr(line, "id");
  return r->o->only == NULL || (id != NULL && strstr(id, r->o->only) != NULL);
}

static DtStatus wait_for_case (Run *r, json_t *line) {
  if (r->nwait == r->cap) {
    int cap = r->cap > 0 ? 2 * r->cap : 256;
    Waiting *w = dt_realloc(r->cx, r->wait, (size_t)cap * sizeof *w);
    if (w == NULL)
      return DT_E_NOMEM;
    r->wait = w;
    r->cap = cap;
  }
  r->wait[r->nwait++] = (Waiting){ json_incref(line), false };
  return dt_map_put_str(&r->waiting, dt_jstr(line, "id"),
                        (char *)r + r->nwait);
}

static bool is_table (const json_t *line) {
  return json_object_get(line, "args") == NULL &&
         (json_object_get(line, "cands") != NULL ||
          json_object_get(line, "children") != NULL);
}

static void bad_line (Run *r, const char *file, int64_t n, const char *text) {
  r->count->fail++;
  dt_buf_clear(&r->p.why);
  dt_buf_addf(&r->p.why, "line %lld is no JSON: %s", (long long)n, text);
  tell_failure(r, file);
}

/* }==== Files ==== */

typedef DtStatus (*LineFn) (Run *r, const char *file, int64_t n, char *text,
                            size_t len);

/* The next line of any length into `b`; false at the end. */
static bool read_line (FILE *f, DtBuf *b) {
  char part[8192];
  dt_buf_clear(b);
  while (fgets(part, sizeof part, f) != NULL) {
    dt_buf_add(b, part);
    if (b->len > 0 && b->s[b->len - 1] == '\n')
      break;
  }
  return b->len > 0;
}

static DtStatus each_line (Run *r, const char *file, LineFn fn) {
  int64_t n = 0;
  DtStatus st = DT_OK;
  DtBuf line;
  FILE *f = fopen(file, "r");
  DT_CHECK(r->cx, f != NULL, DT_E_IO, "%s: %s", file, strerror(errno));
  dt_buf_init(&line, r->cx);
  while (st == DT_OK && read_line(f, &line)) {
    n++;
    st = dt_buf_ok(&line);
    if (st == DT_OK && line.len > 1)
      st = fn(r, file, n, line.s, line.len);
    if (st == DT_OK)
      st = dt_ctx_poll(r->cx);
  }
  dt_buf_fini(&line);
  (void)fclose(f);
  return st;
}

static DtStatus on_line (Run *r, const char *file, int64_t n, char *text,
                         size_t len) {
  json_error_t e;
  DtStatus st = DT_OK;
  json_t *line = json_loadb(text, len, JSON_DECODE_ANY, &e);
  if (!json_is_object(line))
    bad_line(r, file, n, line != NULL ? "not an object" : e.text);
  else if (!wanted(r, line))
    st = DT_OK;
  else if (is_table(line))
    st = wait_for_case(r, line);
  else
    check_line(r, line);
  json_decref(line);
  return st;
}

/* {"id":"..." at the start of a line, without reading the rest. */
static bool id_of (const char *text, char *out, size_t size) {
  static const char head[] = "{\"id\":\"";
  const char *end;
  if (strncmp(text, head, sizeof head - 1) != 0)
    return false;
  text += sizeof head - 1;
  end = strchr(text, '"');
  if (end == NULL || (size_t)(end - text) >= size)
    return false;
  memcpy(out, text, (size_t)(end - text));
  out[end - text] = '\0';
  return true;
}

static bool ends_with (const char *s, const char *end) {
  size_t n = strlen(s), k = strlen(end);
  return n >= k && strcmp(s + n - k, end) == 0;
}

/* The file has lines for worlds of 2, 3 and 4 ranks. */
enum { EACH_WORLD = 2 + 3 + 4 };

/* Short programs, one a line: the world they run in, or 0. */
static int lines_world (const char *file) {
  char head[32] = "";
  FILE *f = fopen(file, "r");
  int world = 0;
  if (f == NULL)
    return 0;
  if (fgets(head, sizeof head, f) != NULL)
    world = strstr(head, "\"errors/") != NULL   ? -8
            : strstr(head, "\"multi/") != NULL ? 4
            : strstr(head, "\"mesh/fsdp/") != NULL ? 8
            : strstr(head, "\"spmd/ops/") != NULL ? -4
            : strstr(head, "\"spmd/") != NULL ? EACH_WORLD
                                               : 0;
  (void)fclose(f);
  return world;
}

/* A program, or the table of parallel styles: rows that need a library. */
static bool is_program (const char *file) {
  const char *slash = strrchr(file, '/');
  return ends_with(file, ".program.json") ||
         strcmp(slash != NULL ? slash + 1 : file, "styles.jsonl") == 0 ||
         lines_world(file) != 0;
}

static DtStatus run_program (Run *r, const char *file) {
  json_error_t e;
  int lines = lines_world(file);
  DtStatus st = DT_OK;
  if (lines == EACH_WORLD && r->o->program != NULL) {
    for (int n = 2; n <= 4 && st == DT_OK; n++)
      st = r->o->program(r->o->ud, file, n, r->o, r->count);
    return st;
  }
  if (lines != 0 && r->o->program != NULL)
    return r->o->program(r->o->ud, file, lines, r->o, r->count);
  json_t *p = json_load_file(file, JSON_DISABLE_EOF_CHECK, &e);
  int64_t world = p != NULL ? dt_jint(p, "world", 4) : 4;
  json_decref(p);
  DT_CHECK(r->cx, p != NULL, DT_E_IO, "%s: %s", file, e.text);
  if (r->o->program == NULL || world < 1 || world > 64) {
    r->count->skip++;
    return DT_OK;
  }
  return r->o->program(r->o->ud, file, (int)world, r->o, r->count);
}

/* The lines of a file that the library has to check, in a pretend world. */
static DtStatus run_later (Run *r, const char *file) {
  DtParityOpts o = *r->o;
  DtParityCount c = { 0, 0, 0, 0 };
  if (r->later.len == 0)
    return DT_OK;
  DT_TRY(r->cx, dt_buf_ok(&r->later));
  o.only = dt_buf_str(&r->later);
  o.show = o.show < 0 ? o.show
           : o.show > r->shown ? (int)(o.show - r->shown) : 0;
  DtStatus st = o.program(o.ud, file, -2, &o, &c);
  dt_buf_clear(&r->later);
  r->count->pass += c.pass;
  r->count->fail += c.fail;
  r->count->skip += c.skip;
  r->shown += c.fail;
  return st;
}

static DtStatus check_file (Run *r, const char *file) {
  if (is_program(file))
    return run_program(r, file);
  DT_TRY(r->cx, each_line(r, file, on_line));
  return run_later(r, file);
}

static DtStatus on_case (Run *r, const char *file, int64_t n, char *text,
                         size_t len) {
  char id[256];
  json_error_t e;
  (void)file;
  (void)n;
  if (!id_of(text, id, sizeof id))
    return DT_OK;
  char *at = dt_map_get_str(&r->waiting, id);
  Waiting *w = at != NULL ? &r->wait[at - (char *)r - 1] : NULL;
  if (w == NULL || w->done)
    return DT_OK;
  json_t *line = json_loadb(text, len, 0, &e);
  if (line != NULL && json_object_get(line, "args") != NULL) {
    w->done = true;
    (void)json_object_set(w->line, "case", line);
    (void)json_object_set(w->line, "op", json_object_get(line, "op"));
    check_line(r, w->line);
  }
  json_decref(line);
  return DT_OK;
}

/* The files beside `file`. */
static DtStatus each_neighbour (Run *r, const char *file) {
  const char *slash = strrchr(file, '/');
  int n = slash != NULL ? (int)(slash - file) : 1;
  char dir[2048], path[4096];
  struct dirent *e;
  DtStatus st = DT_OK;
  (void)snprintf(dir, sizeof dir, "%.*s", n, slash != NULL ? file : ".");
  DIR *d = opendir(dir);
  while (d != NULL && st == DT_OK && (e = readdir(d)) != NULL) {
    size_t k = strlen(e->d_name);
    if (k < 7 || strcmp(e->d_name + k - 6, ".jsonl") != 0)
      continue;
    (void)snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
    st = each_line(r, path, on_case);
  }
  if (d != NULL)
    (void)closedir(d);
  return st;
}

static DtStatus run_waiting (Run *r) {
  for (int i = 0; r->nwait > 0 && i < r->o->nfiles; i++)
    DT_TRY(r->cx, each_neighbour(r, r->o->files[i]));
  for (int i = 0; i < r->nwait; i++)
    r->count->skip += !r->wait[i].done;
  return DT_OK;
}

/* }==== The whole ==== */

static void run_fini (Run *r) {
  int32_t it = 0;
  DtMapEntry *e;
  while ((e = dt_map_next(&r->ops, &it)) != NULL) {
    OpCount *c = e->value;
    dt_free(r->cx, c->name);
    dt_free(r->cx, c);
  }
  dt_map_fini(&r->ops);
  dt_map_fini(&r->waiting);
  for (int i = 0; i < r->nwait; i++)
    json_decref(r->wait[i].line);
  dt_free(r->cx, r->wait);
  dt_buf_fini(&r->out);
  dt_buf_fini(&r->later);
  dt_parity_fini(&r->p);
}

DtStatus dt_parity_run (DtCtx *cx, const DtParityOpts *o,
                        DtParityCount *count) {
  Run r;
  DtStatus st;
  memset(&r, 0, sizeof r);
  memset(count, 0, sizeof *count);
  r.cx = cx;
  r.o = o;
  r.count = count;
  (void)clock_gettime(CLOCK_MONOTONIC, &r.start);
  dt_buf_init(&r.out, cx);
  dt_buf_init(&r.later, cx);
  dt_map_init(&r.ops, cx, NULL);
  dt_map_init(&r.waiting, cx, NULL);
  DT_TRYG(cx, dt_parity_init(&r.p, cx));
  r.p.release = o->torch != NULL ? o->torch : DT_BASE_RELEASE_NAME;
  DT_TRYG(cx, dt_parity_tables(&r.p));
  for (int i = 0; i < o->nfiles; i++)
    DT_TRYG(cx, check_file(&r, o->files[i]));
  DT_TRYG(cx, run_waiting(&r));
  if (o->progress != NULL && r.told > 0)
    o->progress(o->ud, "");
  DT_TRYG(cx, tell_ops(&r));
  tell_total(&r);
  st = dt_buf_ok(&r.out);
done:
  run_fini(&r);
  return st;
}

static int usage (DtParityPut put, void *ud) {
  put(ud, "usage: dtrepl parity [--only TEXT] [--show N] [--by-op] "
          "[--torch X] FILE|FOLDER...\n"
          "       dtrepl parity --operators\n");
  return 2;
}

/* Without --torch the release is the files' own: what was captured from 2.13 must
** not be compared with 2.15's decisions.  Exit codes are those of the product:
** 3 is "something differs", 1 "could not be read". */
int dt_parity_main (DtCtx *cx, int argc, char **argv, const char *torch,
                    DtParityPut put, DtParityPut progress,
                    DtParityProgram program, void *ud) {
  DtParityOpts o = { .show = -1, .torch = torch, .put = put, .progress = progress,
                     .program = program, .ud = ud };
  DtParityCount c;
  DtParityFiles files;
  char release[16];
  int i = 0;
  for (; i < argc && argv[i][0] == '-'; i++) {
    bool more = i + 1 < argc;
    if (strcmp(argv[i], "--operators") == 0 && argc == 1)
      return dt_parity_operators(cx, put, ud);
    else if (strcmp(argv[i], "--by-op") == 0)
      o.by_op = true;
    else if (strcmp(argv[i], "--only") == 0 && more)
      o.only = argv[++i];
    else if (strcmp(argv[i], "--torch") == 0 && more)
      o.torch = argv[++i];
    else if (strcmp(argv[i], "--show") == 0 && more)
      o.show = atoi(argv[++i]);
    else
      return usage(put, ud);
  }
  if (i == argc)
    return usage(put, ud);
  DtStatus st = dt_parity_files(cx, argc - i, argv + i, &files);
  if (st == DT_OK && o.torch == NULL) {
    st = dt_parity_files_release(cx, &files, release);
    o.torch = release;
    o.assumed = true;
  }
  if (st == DT_OK) {
    o.nfiles = files.n;
    o.files = (const char *const *)files.name;
    st = dt_parity_run(cx, &o, &c);
  }
  dt_parity_files_fini(cx, &files);
  if (st != DT_OK) {
    put(ud, dt_buf_str(&cx->err.message));
    put(ud, "\n");
    return 1;
  }
  return c.fail > 0 ? 3 : 0;
}

/* }==== */
