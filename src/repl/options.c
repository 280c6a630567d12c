/* SPDX-License-Identifier: MIT
** repl/options.c: the table of options and its readers.
** To add an option: a row here, a field in DtOptions, a line in apply(). */
#include "base/error_tool.h"
#include "repl/options.h"

#include "engine/session.h"
#include "debug/dump.h"
#include "repl/cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
  O_E = 'e', O_I = 'i', O_L = 'l', O_V = 'v', O_ENV = 'E', O_W = 'W',
  O_H = 'h', O_Q = 'q', O_N = 'n', O_D = 'd',
  O_MPI = 256, O_FAKE, O_CHECK, O_COLOR, O_RAW, O_FAST, O_BARE, O_NO_RC,
  O_RECORD, O_OPEN, O_JSON, O_NO_HISTORY, O_TRUST, O_SANDBOX, O_TORCH, O_DEVICE,
  O_VERIFY, O_STRICT, O_DAP, O_ALONE, O_PYTHON
};

typedef struct Row {
  int id;                       /* a letter: also the short option */
  const char *name;             /* long name or NULL */
  const char *arg;              /* what follows, NULL = nothing */
  const char *text;
} Row;

static const Row rows[] = {
  {O_E, NULL, "CHUNK", "run CHUNK"},
  {O_I, NULL, NULL, "prompt after the script or chunk"},
  {O_L, NULL, "MOD", "require MOD into the global MOD; g=MOD into g"},
  {O_V, "version", NULL, "say the version"},
  {O_ENV, NULL, NULL, "ignore LUA_PATH, LUA_INIT and the start-up file"},
  {O_W, NULL, NULL, "turn Lua's warnings on"},
  {O_H, "help", NULL, "this text"},
  {O_Q, "quiet", NULL, "no greeting; findings are not told at the end"},
  {O_N, NULL, "N", "N ranks, threads of this process (default 4)"},
  {O_D, NULL, NULL, "debug: after an error, a prompt where it happened"},
  {O_MPI, "mpi", "N", "N ranks, processes: starts mpirun with the right flags"},
  {O_FAKE, "fake", "N[:RANK]",
   "one rank (0) of a pretend world of N, without data"},
  {O_CHECK, "check", "FILE", "run a session file and compare with its :expect"},
  {O_RECORD, "record", "FILE",
   "write the record of operators at the end, also of a failed run; "
   "FILE.json: as :export json does"},
  {O_OPEN, "open", "FILE", "look at such a record, without the script"},
  {O_VERIFY, "verify", NULL,
   "compare each operator with one device, name silent traps; exit status 3 "
   "when numbers are wrong"},
  {O_ALONE, "alone", "FILE",
   "on one rank, without files; the record goes into FILE (dtrepl starts itself "
   "so, to compare a program that has ended)"},
  {O_STRICT, "strict", NULL,
   "exit status 3 when a finding says that numbers are wrong, or likely are"},
  {O_DAP, "dap", NULL,
   "first of all: be a debug adapter for editors, on standard input and "
   "output, with --dap=PORT on a port of this machine"},
  {O_JSON, "json", NULL, "commands give one JSON object a line"},
  {O_COLOR, "color", "WHEN", "auto, always or never"},
  {O_PYTHON, "python", NULL,
   "lines typed at the prompt are Python's, as behind :python, and so is a "
   "FILE whose name does not say what it is"},
  {O_RAW, "raw", NULL, "print each rank's output by itself"},
  {O_FAST, "fast", NULL, "no agreement before collectives, no findings"},
  {O_BARE, "bare", NULL, "preset nothing but dt"},
  {O_NO_RC, "no-rc", NULL, "do not read init.lua"},
  {O_NO_HISTORY, "no-history", NULL, "keep no history file"},
  {O_TRUST, "trust", NULL, "let scripts use files and processes freely"},
  {O_SANDBOX, "sandbox", NULL, "no files, 1 GB a rank, 30 s: for a stranger's script"},
  {O_TORCH, "torch", "REL", "behave like PyTorch REL (default " DT_DEFAULT_RELEASE_NAME ")"},
  {O_DEVICE, "device", "NAME", "device profile: cpu, cuda, npu, xla"},
};
enum { NROWS = sizeof rows / sizeof rows[0] };

const char *dt_options_usage (void) {
  return "usage: dtrepl [options] [script.lua [args]]   (dtrepl --help)";
}

static const char tail[] =
  "  -                       read the script from stdin\n"
  "  program.py              a PyTorch program, read without PyTorch\n"
  "  --                      end of options\n"
  "\n"
  "Worlds:\n"
  "  The same script runs in all of them; every rank runs all of it.\n"
  "    dtrepl -n 4 x.lua           threads\n"
  "    mpirun -n 4 dtrepl x.lua    processes\n"
  "    dtrepl --mpi 4 x.lua        the same; root and few cores are no hurdle\n"
  "    dtrepl --fake 16384 x.lua   shapes and placements only\n"
  "  A script may say in its head:  -- dtrepl: ranks=8 torch=2.5 device=npu\n"
  "\n"
  "Exit status:\n"
  "  0 fine; 1 error in the script or engine; 2 wrong usage; 3 a check or\n"
  "  expectation failed, with --strict also a finding; 130 interrupted.  The\n"
  "  same on every rank.\n"
  "\n"
  "Environment:\n"
  "  DTREPL_HISTORY    history file (empty: none)\n"
  "  DTREPL_ALONE      no: programs are not run on one rank to be compared\n"
  "  DTREPL_SEED       first seed of the random numbers\n"
  "  DTREPL_TORCH      the release where neither --torch nor a script says one\n"
  "  XDG_CONFIG_HOME   dtrepl/init.lua there is run before the prompt\n"
  "  XDG_STATE_HOME    dtrepl/history lies there\n"
  "  NO_COLOR, CLICOLOR_FORCE, TERM   colour, unless --color says it\n";

void dt_options_help (DtBuf *b) {
  dt_buf_add(b, "usage: dtrepl [options] [script.lua [args]]\n"
                "       mpirun -n 4 dtrepl [options] [script.lua [args]]\n"
                "       dtrepl parity [--only TEXT] [--show N] [--by-op] "
                "[--torch X] FILE...\n"
                "       dtrepl replay FILE.json\n"
                "       dtrepl --across REL,REL [--json] [options] program "
                "[args]\n"
                "       dtrepl --compare threads,mpi,fake [--json] [options] "
                "program [args]\n"
                "       dtrepl diagnose [--json] [--run] [FILE... | -]\n"
                "\nOptions:\n");
  for (int i = 0; i < NROWS; i++) {
    DtBuf left;
    dt_buf_init(&left, b->cx);
    const Row *r = &rows[i];
    if (r->id < 256)
      dt_buf_addf(&left, "-%c", r->id);
    if (r->name != NULL)
      dt_buf_addf(&left, "%s--%s", r->id < 256 ? ", " : "", r->name);
    if (r->arg != NULL)
      dt_buf_addf(&left, " %s", r->arg);
    dt_buf_addf(b, "  %-22s  %s\n", dt_buf_str(&left), r->text);
    dt_buf_fini(&left);
  }
  dt_buf_add(b, tail);
}

/* A whole number of at least `low` and at most `high`; all of `s`. */
static bool parse_number (const char *s, char **end, int64_t low, int64_t high,
                          int64_t *out) {
  errno = 0;
  long long v = strtoll(s, end, 10);
  if (*end == s || errno != 0 || v < low || v > high)
    return false;
  *out = v;
  return true;
}

static DtStatus apply_number (DtCtx *cx, const Row *r, const char *arg,
                              DtOptions *o) {
  char *end = NULL;
  int64_t v = 0, rank = 0;
  int64_t top = r->id == O_FAKE ? 1 << 20 : 4096;
  bool ok = parse_number(arg, &end, 1, top, &v);
  if (ok && r->id == O_FAKE && *end == ':')
    ok = parse_number(end + 1, &end, 0, v - 1, &rank);
  DT_CHECK(cx, ok && *end == '\0', DT_E_COMMAND,
           "%s%s wants %s%s with N from 1 to %lld, not \"%s\"",
           r->id < 256 ? "-" : "--", r->id < 256 ? "n" : r->name, r->arg,
           r->id == O_FAKE ? ", RANK below N," : "", (long long)top, arg);
  if (r->id == O_N)
    o->ranks = (int)v;
  else if (r->id == O_MPI)
    o->mpi = (int)v;
  else
    o->fake = v, o->fake_rank = rank;
  return DT_OK;
}

/* The effect of one option.  What options exclude is not looked at here: their
** order on the command line must not matter (see the end of dt_options_parse).
** --alone is several in one, so that none of them can be forgotten: the program
** runs once more on one rank and may write nothing but its record. */
static DtStatus apply_option (DtCtx *cx, const Row *r, const char *arg,
                              DtOptions *o) {
  switch (r->id) {
    case O_E: case O_L:
      DT_CHECK(cx, o->nprelude < DT_MAX_PRELUDE, DT_E_COMMAND,
               "at most %d times -e and -l", (int)DT_MAX_PRELUDE);
      o->prelude[o->nprelude++] = (DtPrelude){(char)r->id, arg};
      break;
    case O_I: o->interactive = true; break;
    case O_V: o->version = true; break;
    case O_ENV: o->no_env = true; break;
    case O_W: o->warnings = true; break;
    case O_H: o->help = true; break;
    case O_Q: o->quiet = true; break;
    case O_D: o->debug = true; break;
    case O_N: case O_MPI: case O_FAKE: return apply_number(cx, r, arg, o);
    case O_CHECK: o->check = arg; break;
    case O_RECORD: o->record = arg; break;
    case O_OPEN: o->open = arg; break;
    case O_JSON: o->json = true; break;
    case O_DAP: break;          /* main.c has looked */
    case O_VERIFY: o->verify = true; break;
    case O_ALONE:
      o->record = arg;
      o->alone = o->sandbox = o->quiet = o->no_rc = true;
      o->ranks = 1;
      break;
    case O_STRICT: o->strict = true; break;
    case O_COLOR:
      DT_CHECK(cx, strcmp(arg, "auto") == 0 || strcmp(arg, "always") == 0 ||
               strcmp(arg, "never") == 0, DT_E_COMMAND,
               "--color wants auto, always or never, not \"%s\"", arg);
      o->color = arg;
      break;
    case O_PYTHON: o->python = true; break;
    case O_RAW: o->raw = true; break;
    case O_FAST: o->fast = true; break;
    case O_BARE: o->bare = true; break;
    case O_NO_RC: o->no_rc = true; break;
    case O_NO_HISTORY: o->no_history = true; break;
    case O_TRUST: o->trust = true; break;
    case O_SANDBOX: o->sandbox = true; break;
    case O_TORCH: o->torch = arg; break;
    case O_DEVICE: o->device = arg; break;
    default: break;
  }
  return DT_OK;
}

static const Row *find_long (const char *name, size_t n) {
  for (int i = 0; i < NROWS; i++)
    if (rows[i].name != NULL && strlen(rows[i].name) == n &&
        memcmp(rows[i].name, name, n) == 0)
      return &rows[i];
  return NULL;
}

static const Row *find_short (char c) {
  for (int i = 0; i < NROWS; i++)
    if (rows[i].id == c)
      return &rows[i];
  return NULL;
}

/* The option whose name is nearest to one that there is not; NULL: none is. */
static const Row *near_long (const char *name, size_t n) {
  const Row *best = NULL;
  int far = n < 4 ? 2 : 3;
  for (int i = 0; i < NROWS; i++) {
    const char *s = rows[i].name;
    int d = s != NULL ? dt_word_distance(name, n, s, strlen(s)) : far;
    if (d < far) {
      best = &rows[i];
      far = d;
    }
  }
  return best;
}

static DtStatus unknown_long (DtCtx *cx, const char *name, size_t n) {
  const Row *r = near_long(name, n);
  return dt_raise(cx, DT_E_COMMAND, r ? "unknown option --%.*s; did you mean "
                  "--%s?" : "unknown option --%.*s", (int)n, name,
                  r ? r->name : "");
}

/* --name, --name value, --name=value; *i moves over a value taken. */
static DtStatus parse_long (DtCtx *cx, int argc, char **argv, int *i,
                            DtOptions *o) {
  const char *name = argv[*i] + 2;
  size_t n = strcspn(name, "=");
  const char *arg = name[n] == '=' ? name + n + 1 : NULL;
  const Row *r = find_long(name, n);
  if (r == NULL)
    return unknown_long(cx, name, n);
  DT_CHECK(cx, r->arg != NULL || arg == NULL, DT_E_COMMAND,
           "--%s takes no value", r->name);
  if (r->arg != NULL && arg == NULL) {
    DT_CHECK(cx, *i + 1 < argc, DT_E_COMMAND, "--%s wants %s", r->name,
             r->arg);
    arg = argv[++*i];
  }
  return apply_option(cx, r, arg, o);
}

/* -iq, -e chunk, -echunk, -n4. */
static DtStatus parse_short (DtCtx *cx, int argc, char **argv, int *i,
                             DtOptions *o) {
  for (const char *s = argv[*i] + 1; *s != '\0'; s++) {
    const Row *r = find_short(*s);
    DT_CHECK(cx, r != NULL, DT_E_COMMAND, "unknown option -%c", *s);
    if (r->arg == NULL) {
      DT_TRY(cx, apply_option(cx, r, NULL, o));
      continue;
    }
    if (s[1] != '\0')
      return apply_option(cx, r, s + 1, o);
    DT_CHECK(cx, *i + 1 < argc, DT_E_COMMAND, "-%c wants %s", *s, r->arg);
    return apply_option(cx, r, argv[++*i], o);
  }
  return DT_OK;
}

/* A record says itself of how many ranks it is; a file that is none is
** reported later, on all ranks. */
static DtStatus look_at_record (DtCtx *cx, DtOptions *o) {
  int ranks, world;
  if (o->open == NULL || o->ranks > 0 || o->mpi > 0 || o->fake > 0)
    return DT_OK;
  if (dt_dump_peek(cx, o->open, &ranks, &world) != DT_OK)
    dt_error_clear(cx);
  else if (world > ranks)
    o->fake = world;
  else if (ranks <= 4096)
    o->ranks = ranks;
  return DT_OK;
}

static bool is_json (const char *path) {
  const char *end = strrchr(path, '.');
  return end != NULL && strcmp(end, ".json") == 0;
}

static DtStatus check_together (DtCtx *cx, const DtOptions *o) {
  DT_CHECK(cx, (o->ranks > 0) + (o->mpi > 0) + (o->fake > 0) <= 1,
           DT_E_COMMAND, "-n, --mpi and --fake exclude each other");
  DT_CHECK(cx, !o->alone || (o->ranks == 1 && o->mpi == 0 && o->fake == 0),
           DT_E_COMMAND, "--alone is one rank: it excludes -n, --mpi and --fake");
  DT_CHECK(cx, o->record == NULL || is_json(o->record) ||
           !dt_dump_is_other(o->record), DT_E_COMMAND,
           "%s is there and holds no record: --%s writes one", o->record,
           o->alone ? "alone" : "record");
  DT_CHECK(cx, !(o->trust && o->sandbox), DT_E_COMMAND,
           "--trust and --sandbox exclude each other");
  DT_CHECK(cx, o->check == NULL || (o->script == NULL && o->nprelude == 0),
           DT_E_COMMAND, "--check takes no script besides");
  return DT_OK;
}

DtStatus dt_options_parse (DtCtx *cx, int argc, char **argv, DtOptions *o) {
  memset(o, 0, sizeof *o);
  o->color = "auto";
  int i = 1;
  for (; i < argc; i++) {
    const char *a = argv[i];
    if (a[0] != '-' || a[1] == '\0')
      break;
    if (strcmp(a, "--") == 0) {
      i++;
      break;
    }
    if (a[1] == '-')
      DT_TRY(cx, parse_long(cx, argc, argv, &i, o));
    else
      DT_TRY(cx, parse_short(cx, argc, argv, &i, o));
  }
  if (i < argc) {
    o->script = argv[i];
    o->nargs = argc - i - 1;
    o->args = argv + i + 1;
  }
  DT_TRY(cx, check_together(cx, o));
  return look_at_record(cx, o);
}

/* One "key=value" of a script's head. */
static DtStatus script_word (DtCtx *cx, char *word, DtOptions *o) {
  char *value = strchr(word, '=');
  DT_CHECK(cx, value != NULL, DT_E_COMMAND,
           "\"%s\" in the script's head: wanted key=value", word);
  *value++ = '\0';
  if (strcmp(word, "ranks") == 0) {
    char *end;
    int64_t v;
    DT_CHECK(cx, parse_number(value, &end, 1, 4096, &v) && *end == '\0',
             DT_E_COMMAND, "ranks=%s in the script's head: wanted a number "
             "from 1 to 4096", value);
    if (o->ranks == 0 && o->mpi == 0 && o->fake == 0)
      o->ranks = (int)v;
  } else if (strcmp(word, "fake") == 0) {
    char *end;
    int64_t v;
    DT_CHECK(cx, parse_number(value, &end, 1, INT64_C(1) << 20, &v) &&
             *end == '\0',
             DT_E_COMMAND, "fake=%s in the script's head: wanted a number "
             "from 1 to 2^20", value);
    if (o->ranks == 0 && o->mpi == 0 && o->fake == 0)
      o->fake = v;
  } else if (strcmp(word, "torch") == 0) {
    if (o->torch == NULL)
      o->torch = value;
  } else if (strcmp(word, "device") == 0) {
    if (o->device == NULL)
      o->device = value;
  } else {
    return dt_raise(cx, DT_E_COMMAND, "\"%s\" in the script's head: the keys "
                    "are ranks, fake, torch, device", word);
  }
  return DT_OK;
}

/* "torchrun --nproc_per_node=8 x.py", as a program's head often says how it is
** run: the ranks it wants, 0 where the line says nothing of them. */
static int torchrun_ranks (const char *s, size_t len) {
  static const char *const names[] = {"--nproc_per_node", "--nproc-per-node"};
  for (size_t i = 0; i < 2; i++) {
    size_t n = strlen(names[i]);
    for (size_t at = 0; at + n + 1 < len; at++) {
      if (memcmp(s + at, names[i], n) != 0 ||
          (s[at + n] != '=' && s[at + n] != ' '))
        continue;
      int v = 0;
      for (at += n + 1; at < len && s[at] >= '0' && s[at] <= '9'; at++)
        if ((v = v * 10 + (s[at] - '0')) > 64)
          return 0;             /* a cluster's: not started unasked */
      return v;
    }
  }
  return 0;
}

/* What a script says in its first 20 lines: "-- dtrepl: …" of Lua, "# dtrepl: …" of
** Python, or a torchrun command in a comment, whose number of ranks counts only
** where neither such a line nor the command line has one. */
DtStatus dt_options_script (DtCtx *cx, const char *text, size_t n,
                            DtOptions *o) {
  static const char mark[] = "-- dtrepl:", py_mark[] = "# dtrepl:";
  const char *s = text, *end = text + n;
  int wanted = 0;
  for (int line = 0; s < end && line < 20; line++) {
    const char *eol = memchr(s, '\n', (size_t)(end - s));
    size_t len = (size_t)((eol != NULL ? eol : end) - s);
    bool py = len > sizeof py_mark - 1 &&
              memcmp(s, py_mark, sizeof py_mark - 1) == 0;
    if (py || (len > sizeof mark - 1 &&
               memcmp(s, mark, sizeof mark - 1) == 0)) {
      char *copy = dt_arena_alloc(cx, &cx->scratch, len + 1), *save = NULL;
      if (copy == NULL)
        return DT_E_NOMEM;
      memcpy(copy, s, len);
      copy[len] = '\0';
      for (char *w = strtok_r(copy + (py ? sizeof py_mark : sizeof mark) - 1,
                            " \t\r", &save);
           w != NULL; w = strtok_r(NULL, " \t\r", &save))
        DT_TRY(cx, script_word(cx, w, o));
    }
    if (wanted == 0 && !py)
      wanted = torchrun_ranks(s, len);
    s += len + 1;
  }
  if (wanted > 0 && o->ranks == 0 && o->mpi == 0 && o->fake == 0)
    o->ranks = wanted;
  return DT_OK;
}
