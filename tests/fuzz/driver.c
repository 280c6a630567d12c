/* SPDX-License-Identifier: MIT
** driver.c: runs a fuzz target without a fuzzing engine: every corpus file
** as it is, then mutations of them.  Targets have the usual entry point, so
** they also link with clang's -fsanitize=fuzzer instead of this file.
**
**   fuzz_x [-n RUNS] [-s SEED] [-o LAST] FILE...
**
** LAST holds the input being tried, so it survives the crash. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/rng.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

enum { MAX_INPUT = 65536 };

typedef struct Input { uint8_t *s; size_t n; } Input;
typedef struct Dice { DtRng rng; uint64_t i; } Dice;

static size_t roll (Dice *d, size_t n) {
  return n > 0 ? (size_t)(dt_rng_u64(&d->rng, d->i++) % n) : 0;
}

static Input input_read (const char *path) {
  Input in = {malloc(MAX_INPUT), 0};
  FILE *f = fopen(path, "rb");
  if (f == NULL || in.s == NULL) {
    perror(path);
    exit(2);
  }
  in.n = fread(in.s, 1, MAX_INPUT, f);
  fclose(f);
  return in;
}

static void try_input (const uint8_t *s, size_t n, FILE *last) {
  uint8_t *copy = malloc(n > 0 ? n : 1);  /* exact size: ASan sees overreads */
  if (copy == NULL)
    return;
  memcpy(copy, s, n);
  if (last != NULL) {
    rewind(last);
    fwrite(s, 1, n, last);
    fflush(last);
    if (ftruncate(fileno(last), (off_t)n) != 0)
      perror("ftruncate");
  }
  LLVMFuzzerTestOneInput(copy, n);
  free(copy);
}

/* One small change in place; the new length. */
static size_t mutate (Dice *d, uint8_t *s, size_t n, const Input *other) {
  static const char *const words[] = {"-1", "0", "9223372036854775807", "nan",
    "((((", "]]", "\"", "\\", "\xff\xfe", "S(0)", "P(", "->", ",", "=", "[]"};
  size_t at = roll(d, n + 1), k = 1 + roll(d, 8);
  const char *w = words[roll(d, sizeof words / sizeof words[0])];
  switch (roll(d, 6)) {
    case 0:                                     /* change a byte */
      if (at < n)
        s[at] = (uint8_t)roll(d, 256);
      return n;
    case 1:                                     /* flip a bit */
      if (at < n)
        s[at] = (uint8_t)(s[at] ^ (1u << roll(d, 8)));
      return n;
    case 2:                                     /* cut a piece out */
      k = at + k > n ? n - at : k;
      memmove(s + at, s + at + k, n - at - k);
      return n - k;
    case 3:                                     /* put a word in */
      k = strlen(w);
      if (n + k > MAX_INPUT)
        return n;
      memmove(s + at + k, s + at, n - at);
      memcpy(s + at, w, k);
      return n + k;
    case 4:                                     /* go on with another file */
      k = roll(d, other->n + 1);
      if (at + other->n - k > MAX_INPUT)
        return n;
      memcpy(s + at, other->s + k, other->n - k);
      return at + other->n - k;
    default:                                    /* double a piece */
      k = at + k * 8 > n ? n - at : k * 8;
      if (n + k > MAX_INPUT)
        return n;
      memmove(s + at + k, s + at, n - at);
      return n + k;
  }
}

int main (int argc, char **argv) {
  static uint8_t buf[MAX_INPUT];
  long runs = 20000, i;
  Dice d = {{1, 0}, 0};
  Input *in;
  FILE *last = NULL;
  int a, nin = 0;
  in = calloc((size_t)argc + 1, sizeof *in);
  for (a = 1; a < argc; a++) {
    bool more = a + 1 < argc;
    if (strcmp(argv[a], "-n") == 0 && more)
      runs = strtol(argv[++a], NULL, 10);
    else if (strcmp(argv[a], "-s") == 0 && more)
      d.rng.seed = (uint64_t)strtoull(argv[++a], NULL, 10);
    else if (strcmp(argv[a], "-o") == 0 && more)
      last = fopen(argv[++a], "wb");
    else
      in[nin++] = input_read(argv[a]);
  }
  for (a = 0; a < nin; a++)
    try_input(in[a].s, in[a].n, last);
  for (i = 0; i < runs && nin > 0; i++) {
    const Input *from = &in[roll(&d, (size_t)nin)];
    size_t n = from->n, k = 1 + roll(&d, 6);
    memcpy(buf, from->s, n);
    while (k-- > 0)
      n = mutate(&d, buf, n, &in[roll(&d, (size_t)nin)]);
    try_input(buf, n, last);
  }
  for (a = 0; a < nin; a++)
    free(in[a].s);
  free(in);
  if (last != NULL)
    fclose(last);
  printf("%d files, %ld mutations\n", nin, runs);
  return 0;
}
