/* SPDX-License-Identifier: MIT
** comm/hosts_int.h: ranks on other hosts.  They cannot see the board, so each
** has a deputy: a thread of rank 0 that acts at the board in its name and
** does there what it is asked over a connection.  Agreement, meetings, lines
** and the search for circles are the same code for all ranks; only data goes
** another way (MPI's own). */
#ifndef DT_COMM_HOSTS_INT_H
#define DT_COMM_HOSTS_INT_H

#include "comm/board_int.h"

enum { DT_HOSTS_ADDRS = 8, DT_HOSTS_TOKEN = 16 };

/* What rank 0 sends the others: where it listens, and a secret. */
typedef struct DtHostsWhere {
  uint32_t port, naddr;
  uint32_t addr[DT_HOSTS_ADDRS];              /* IPv4, network order */
  unsigned char token[DT_HOSTS_TOKEN];
} DtHostsWhere;

/* Rank 0's side. */
typedef struct DtHosts DtHosts;
/* Listen on all interfaces.  COMM, NOMEM.  Local. */
DtStatus dt_hosts_listen (DtCtx *cx, DtComm *c, int nfar, DtHosts **out,
                          DtHostsWhere *where);
/* Wait until all far ranks have come; start their deputies.  COMM when one
** does not come.  Local. */
DtStatus dt_hosts_accept (DtCtx *cx, DtHosts *h);
/* Wait until the far ranks have left (or, in a dead world, send them away),
** free all.  NULL is accepted.  Local. */
void dt_hosts_free (DtCtx *cx, DtHosts *h, bool dead);

/* A far rank's side: connect to rank 0's host.  COMM.  Local. */
DtStatus dt_far_join (DtCtx *cx, DtComm *c, const DtHostsWhere *where);
/* Say good-bye; NULL is accepted.  Local. */
void dt_far_leave (DtCtx *cx, DtComm *c);
/* The members of DtCommVt, done by the deputy. */
DtStatus dt_far_agree (DtCtx *cx, DtGroup *g, const DtCollInfo *i,
                       const DtOffer *o);
DtStatus dt_far_meet (DtCtx *cx, DtComm *c, DtStatus mine,
                      const DtCollInfo *i, DtStatus *all);
DtStatus dt_far_share (DtCtx *cx, DtComm *c, char **text, size_t *n);
DtStatus dt_far_stop (DtCtx *cx, DtGroup *g, const DtCollInfo *i, bool *all);
DtStatus dt_far_alive (DtCtx *cx, DtComm *c);
void dt_far_status (DtComm *c, DtBuf *b);

/* --- messages: a length, then numbers and texts -------------------------- */

typedef enum DtAsk {
  DT_ASK_AGREE = 1, DT_ASK_MEET, DT_ASK_SHARE, DT_ASK_STOP, DT_ASK_ALIVE,
  DT_ASK_STATUS, DT_ASK_BYE, DT_ASK_POSTED, DT_ASK_BOTH
} DtAsk;

/* One end of a connection.  What was read is a frame that ends with a 0. */
typedef struct DtWire {
  DtCtx *cx;
  int fd;
  bool broken;                /* the other end is gone, or talks nonsense */
  DtBuf out;
  char *in;
  size_t n, at, cap;
} DtWire;

void dt_wire_init (DtWire *w, DtCtx *cx, int fd);
void dt_wire_fini (DtWire *w);          /* closes the connection */
void dt_wire_num (DtWire *w, uint64_t v);
void dt_wire_text (DtWire *w, const char *s, size_t n);
void dt_wire_info (DtWire *w, const DtCollInfo *i);
/* Send what was put; false when the other end is gone. */
bool dt_wire_send (DtWire *w);
/* Wait for a frame; false when the other end is gone. */
bool dt_wire_recv (DtWire *w);
uint64_t dt_wire_get (DtWire *w);
/* A text that lives until the next frame; "" when there is none. */
const char *dt_wire_get_text (DtWire *w, size_t *n);
/* NULL when none was sent. */
const DtCollInfo *dt_wire_get_info (DtWire *w, DtCollInfo *room);

#endif
