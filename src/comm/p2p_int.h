/* SPDX-License-Identifier: MIT
** comm/p2p_int.h: messages from one rank to one other.
**
** A channel is a group of two, sender and receiver, for one tag; each of its
** cells counts the messages that this side has posted.  Message n has met its
** other side when both have counted to n: that is all that anybody waits for,
** so a circle of ranks that wait for each other is found by the same search as
** for collectives.  Data moves by the world's own means (DtCommVt). */
#ifndef DT_COMM_P2P_INT_H
#define DT_COMM_P2P_INT_H

#include "comm/board_int.h"

/* Salts of groups of one purpose; from FOR_MESSAGES on, of channels. */
enum { FOR_DATA, FOR_MEET, FOR_LINE, FOR_STOP, FOR_PACE, FOR_MESSAGES };

/* Before the data of a message: its size, its channel and its DtDtype. */
typedef struct DtMsgHead { uint64_t nbytes, salt, dtype; } DtMsgHead;

/* One side of a message. */
struct DtMsg {
  DtMsg *next;
  DtGroup *channel;             /* me: 0 sends, 1 receives */
  uint64_t key;                 /* of this message in the channel */
  bool met;                     /* waited for: the other side was there */
  bool dropped;                 /* nobody will wait for it any more */
  atomic_bool taken;            /* threads: the receiver has a copy */
  size_t nbytes;                /* of the sender; of the receiver's room */
  char *buf;                    /* a DtMsgHead and the data */
  void *impl;                   /* the world's own */
};

static inline bool dt_msg_sends (const DtMsg *m) {
  return m->channel->me == 0;
}
static inline DtMsgHead *dt_msg_head (DtMsg *m) {
  return (DtMsgHead *)(void *)m->buf;
}

/* The channel's group, opened once (comm.c).  Local. */
DtStatus dt_comm_channel (DtCtx *cx, DtComm *c, int src, int dst,
                          uint64_t salt, DtGroup **out);
/* On the board: this side has posted message `key`; wait until the other side
** has.  Sleeps and polls.  agree.c. */
void dt_agree_posted (DtGroup *g, uint64_t key);
DtStatus dt_agree_posted_by_both (DtCtx *cx, DtGroup *g, uint64_t key,
                                  const DtCollInfo *i);
/* From another host: the deputy does it (far.c). */
DtStatus dt_far_posted (DtCtx *cx, DtGroup *g, uint64_t key);
DtStatus dt_far_posted_by_both (DtCtx *cx, DtGroup *g, uint64_t key,
                                const DtCollInfo *i);
/* All messages, moved or not (p2p.c). */
void dt_msgs_free (DtCtx *cx, DtComm *c);

#endif
