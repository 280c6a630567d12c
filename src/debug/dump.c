/* SPDX-License-Identifier: MIT
** debug/dump.c: files of records: their heads, and a rank's part. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>
#include "base/hash.h"
#include "debug/dump.h"

static const char magic[16] = "dtrepl-record\n\0";

enum { HEAD = sizeof magic + 16 };

size_t dt_dump_head_size (int ranks) {
  return HEAD + (size_t)ranks * 24;
}

static void add_u (DtBuf *b, uint64_t v, int bytes) {
  int i;
  for (i = 0; i < bytes; i++) dt_buf_addc(b, (char)(v >> (8 * i) & 255));
}

void dt_dump_head (DtBuf *out, int ranks, int world, const uint64_t *len,
                   const uint64_t *hash) {
  uint64_t at = dt_dump_head_size(ranks);
  int r;
  dt_buf_addn(out, magic, sizeof magic);
  add_u(out, DT_DUMP_VERSION, 4);
  add_u(out, (uint64_t)ranks, 4);
  add_u(out, (uint64_t)world, 4);
  add_u(out, 0, 4);
  for (r = 0; r < ranks; r++) {
    add_u(out, at, 8);
    add_u(out, len[r], 8);
    add_u(out, hash[r], 8);
    at += len[r];
  }
}

uint64_t dt_dump_hash (const char *p, size_t n) {
  return dt_hash_bytes(DT_HASH_SEED, p, n);
}

/* --- compression --------------------------------------------------------- */

/* The window is as long as zstd reads without being asked: buffers come again
** whole, megabytes later, with one parameter changed.  Higher levels take ten
** times as long for a few percent of numbers that are noise. */
enum { LEVEL = 1, WINDOW_LOG = 27 };

/* The rank without its highest bit, 5 -> 1, 6 -> 2: a chain of at most
** log2(n) parts has to be unpacked for one, and ranks that differ in one
** mesh dim mostly hold equal values. */
int dt_dump_base (int rank) {
  int top = 1;
  while (top <= rank / 2) top *= 2;
  return rank - top;
}

DtStatus dt_dump_pack (DtCtx *cx, DtBuf *part, const char *base,
                       size_t nbase) {
  size_t room = ZSTD_compressBound(part->len), n = 0;
  char *to = dt_alloc(cx, room);
  ZSTD_CCtx *z = ZSTD_createCCtx();
  bool ok = to != NULL && z != NULL;
  if (ok) {
    ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setParameter(z, ZSTD_c_enableLongDistanceMatching, 1);
    ZSTD_CCtx_setParameter(z, ZSTD_c_windowLog, WINDOW_LOG);
    if (base) ZSTD_CCtx_refPrefix(z, base, nbase);
    n = ZSTD_compress2(z, to, room, dt_buf_str(part), part->len);
    ok = !ZSTD_isError(n);
  }
  ZSTD_freeCCtx(z);
  if (ok) {
    dt_buf_clear(part);
    dt_buf_addn(part, to, n);
  }
  dt_free(cx, to);
  if (!ok) dt_error_clear(cx);
  return ok ? dt_buf_ok(part)
            : dt_raise(cx, DT_E_NOMEM, "no memory to write the record");
}

/* zstd packs at most 128 kB in four bytes: a frame that claims more lies, and
** is not worth the memory it asks for. */
enum { MOST_PACKED = 1 << 15 };

typedef struct Bytes { char *p; size_t n; } Bytes;

/* Does it come to `n` bytes behind the base? */
static bool decompress (char *to, size_t n, const Bytes *from,
                        const Bytes *base) {
  ZSTD_DCtx *z = ZSTD_createDCtx();
  bool ok = z != NULL &&
            (base->p == NULL ||
             !ZSTD_isError(ZSTD_DCtx_refPrefix(z, base->p, base->n))) &&
            ZSTD_decompressDCtx(z, to, n, from->p, from->n) == n;
  ZSTD_freeDCtx(z);
  return ok;
}

/* The bytes that were packed in the part of `path`, owned by the caller.  IO:
** these are none, or more than there is memory for. */
static DtStatus unpack (DtCtx *cx, const char *path, const Bytes *part,
                        const Bytes *base, char **out, size_t *size) {
  const char *p = part->p;
  size_t n = part->n;
  unsigned long long all = ZSTD_getFrameContentSize(p, n);
  char *data;
  *out = NULL;
  if (all == ZSTD_CONTENTSIZE_ERROR || all == ZSTD_CONTENTSIZE_UNKNOWN)
    return dt_raise(cx, DT_E_IO, "%s is damaged", path);
  if (all / MOST_PACKED > n)
    return dt_raise(cx, DT_E_IO, "%s is damaged: it claims that %zu bytes are "
                    "%llu, packed", path, n, all);
  data = dt_alloc(cx, (size_t)all + 1);
  if (data == NULL) {
    dt_error_clear(cx);
    return dt_raise(cx, DT_E_IO, "%s has %llu bytes for this rank, more than "
                    "there is memory for", path, all);
  }
  if (!decompress(data, (size_t)all, part, base)) {
    dt_free(cx, data);
    return dt_raise(cx, DT_E_IO, "%s is damaged", path);
  }
  *out = data;
  *size = (size_t)all;
  return DT_OK;
}

/* --- files --------------------------------------------------------------- */

static uint64_t get_u (const unsigned char *p, int bytes) {
  uint64_t v = 0;
  int i;
  for (i = 0; i < bytes; i++) v |= (uint64_t)p[i] << (8 * i);
  return v;
}

/* `alone`: each part stands by itself. */
static DtStatus open_file (DtCtx *cx, const char *path, FILE **f,
                           int *ranks, int *world, bool *alone) {
  unsigned char head[HEAD];
  size_t n;
  uint64_t version;
  *f = fopen(path, "rb");
  DT_CHECK(cx, *f != NULL, DT_E_IO, "cannot read %s: %s", path,
           strerror(errno));
  n = fread(head, 1, sizeof head, *f);
  if (n < sizeof magic || memcmp(head, magic, sizeof magic) != 0) {
    fclose(*f);
    return dt_raise(cx, DT_E_IO, "%s is no record of dtrepl", path);
  }
  version = n == sizeof head ? get_u(head + sizeof magic, 4) : 0;
  if (n == sizeof head &&
      (version < DT_DUMP_OLDEST || version > DT_DUMP_VERSION)) {
    fclose(*f);
    return dt_raise(cx, DT_E_IO, "%s is a record of version %llu; this "
                    "program reads versions %d to %d", path,
                    (unsigned long long)version, (int)DT_DUMP_OLDEST,
                    (int)DT_DUMP_VERSION);
  }
  *alone = version < 6;
  *ranks = n == sizeof head ? (int)get_u(head + sizeof magic + 4, 4) : 0;
  *world = n == sizeof head ? (int)get_u(head + sizeof magic + 8, 4) : 0;
  if (*ranks <= 0 || *ranks > 1 << 20 || *world < *ranks ||
      *world > 1 << 20) {
    fclose(*f);
    return dt_raise(cx, DT_E_IO, "%s is cut short", path);
  }
  return DT_OK;
}

bool dt_dump_is_other (const char *path) {
  char start[sizeof magic];
  struct stat s;
  FILE *f = stat(path, &s) == 0 && S_ISREG(s.st_mode) ? fopen(path, "rb") : NULL;
  size_t n;
  if (f == NULL) return false;
  n = fread(start, 1, sizeof start, f);
  fclose(f);
  return n > 0 && (n < sizeof start || memcmp(start, magic, sizeof start) != 0);
}

DtStatus dt_dump_peek (DtCtx *cx, const char *path, int *ranks, int *world) {
  FILE *f;
  bool alone;
  DT_TRY(cx, open_file(cx, path, &f, ranks, world, &alone));
  fclose(f);
  return DT_OK;
}

/* The packed bytes of a part, owned by the caller; checked by their hash.
** Length and place are compared with the file's before anything is
** allocated: the head may lie. */
static DtStatus read_packed (DtCtx *cx, const char *path, int rank, Bytes *out,
                             bool *alone) {
  unsigned char row[24];
  FILE *f;
  int ranks, world;
  uint64_t at = 0, len = 0;
  char *data = NULL;
  bool ok;
  long end = 0;
  DT_TRY(cx, open_file(cx, path, &f, &ranks, &world, alone));
  ok = rank < ranks &&
       fseek(f, (long)(HEAD + (size_t)rank * 24), SEEK_SET) == 0 &&
       fread(row, 1, sizeof row, f) == sizeof row &&
       fseek(f, 0, SEEK_END) == 0 && (end = ftell(f)) >= 0;
  if (ok) {
    at = get_u(row, 8);
    len = get_u(row + 8, 8);
    ok = at <= (uint64_t)end && len <= (uint64_t)end - at &&
         fseek(f, (long)at, SEEK_SET) == 0;
  }
  if (ok) {
    data = dt_alloc(cx, (size_t)len + 1);
    ok = data != NULL && fread(data, 1, (size_t)len, f) == len;
  }
  fclose(f);
  if (ok && dt_dump_hash(data, (size_t)len) == get_u(row + 16, 8)) {
    out->p = data;
    out->n = (size_t)len;
    return DT_OK;
  }
  dt_free(cx, data);
  dt_error_clear(cx);
  return dt_raise(cx, DT_E_IO, ok ? "%s is damaged" : rank < ranks
                  ? "%s is cut short" : "%s has no part for this rank", path);
}

DtStatus dt_dump_part (DtCtx *cx, const char *path, int rank, char **p,
                       size_t *n) {
  Bytes part = {NULL, 0}, base = {NULL, 0};
  bool alone;
  DT_TRY(cx, read_packed(cx, path, rank, &part, &alone));
  DtStatus st = rank == 0 || alone ? DT_OK
    : dt_dump_part(cx, path, dt_dump_base(rank), &base.p, &base.n);
  if (st == DT_OK)
    st = unpack(cx, path, &part, &base, p, n);
  dt_free(cx, base.p);
  dt_free(cx, part.p);
  return st;
}
