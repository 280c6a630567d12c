/* SPDX-License-Identifier: MIT
** engine/nested.c: worlds inside the world: a program that wants fewer ranks
** than there are, or a pretended process group, has them while it runs. */
#include "base/error_tool.h"
#include "engine/session.h"

DtStatus dt_session_part (DtSession *s, int n) {
  int ranks[DT_PART_MAX];
  DT_CHECK(s->cx, s->home == NULL && s->part == NULL, DT_E_WORLD,
           "a world inside a world inside a world");
  DT_CHECK(s->cx, n >= 1 && n <= s->comm->size && n <= DT_PART_MAX,
           DT_E_VALUE, "%d of %d ranks", n, s->comm->size);
  if (n == s->comm->size) return DT_OK;
  for (int i = 0; i < n; i++) ranks[i] = i;
  return dt_comm_group(s->cx, s->comm, n, ranks, &s->part);
}

DtStatus dt_session_pretend (DtSession *s, int size, int rank) {
  DtComm *fake;
  DT_CHECK(s->cx, s->home == NULL && s->part == NULL, DT_E_WORLD,
           "a world inside a world inside a world");
  DT_TRY(s->cx, dt_comm_fake(s->cx, size, rank, &fake));
  dt_comm_pretend(fake, true);
  s->home = s->comm;
  s->comm = fake;
  return DT_OK;
}

void dt_session_home (DtSession *s) {
  if (s == NULL) return;
  s->part = NULL;
  if (s->home == NULL) return;
  dt_comm_free(s->cx, s->comm);
  s->comm = s->home;
  s->home = NULL;
  s->cx->rank = s->comm->rank;
  s->cx->size = s->comm->size;
}
