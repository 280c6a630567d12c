/* SPDX-License-Identifier: MIT
** bind/l_process.c: programs that are talked to, and a port for one client:
** what a subcommand in Lua needs to stand between an editor and a session.
**
** Handles are file descriptors, nothing more; whoever opened one closes it.
** Nothing here waits but wait_any() (poll) and a blocking write. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "bind/bind.h"
#include "bind/process.h"

extern char **environ;

enum { MAX_WORDS = 256, MAX_WAITED = 8, CHUNK = 1 << 16 };

static int push_errno (lua_State *L) {
  lua_pushnil(L);
  lua_pushstring(L, strerror(errno));
  return 2;
}

static void close_two (const int p[2]) {
  (void)close(p[0]);
  (void)close(p[1]);
}

/* Words of the list at `idx`, ended by NULL; they stay on the stack. */
static void read_words (lua_State *L, int idx, char **argv) {
  lua_Integer n = luaL_len(L, idx);
  luaL_argcheck(L, n >= 1 && n < MAX_WORDS, idx, "1 to 255 words");
  luaL_checkstack(L, MAX_WORDS, NULL);
  for (lua_Integer i = 1; i <= n; i++) {
    lua_geti(L, idx, i);
    argv[i - 1] = (char *)(size_t)luaL_checkstring(L, -1);
  }
  argv[n] = NULL;
}

static int spawn_process (char **argv, const char *dir, int in, int out,
                          int err, pid_t *pid) {
  posix_spawn_file_actions_t fa;
  posix_spawnattr_t at;
  sigset_t def;
  sigemptyset(&def);
  sigaddset(&def, SIGPIPE);
  sigaddset(&def, SIGINT);
  posix_spawn_file_actions_init(&fa);
  posix_spawnattr_init(&at);
  posix_spawn_file_actions_adddup2(&fa, in, 0);
  posix_spawn_file_actions_adddup2(&fa, out, 1);
  posix_spawn_file_actions_adddup2(&fa, err, 2);
  if (dir != NULL) posix_spawn_file_actions_addchdir_np(&fa, dir);
  posix_spawnattr_setflags(&at, POSIX_SPAWN_SETPGROUP |
                                POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setsigdefault(&at, &def);
  int rc = posix_spawnp(pid, argv[0], &fa, &at, argv, environ);
  posix_spawn_file_actions_destroy(&fa);
  posix_spawnattr_destroy(&at);
  return rc;
}

/* tool.spawn(argv [, folder]) -> pid, stdin, stdout, stderr (our ends); nil and
** why.  It leads a process group of its own. */
static int l_spawn (lua_State *L) {
  char *argv[MAX_WORDS];
  int in[2], out[2], err[2];
  pid_t pid = -1;
  const char *dir = luaL_optstring(L, 2, NULL);
  luaL_checktype(L, 1, LUA_TTABLE);
  read_words(L, 1, argv);
  if (pipe2(in, O_CLOEXEC) != 0) return push_errno(L);
  if (pipe2(out, O_CLOEXEC) != 0) { close_two(in); return push_errno(L); }
  if (pipe2(err, O_CLOEXEC) != 0) {
    close_two(in);
    close_two(out);
    return push_errno(L);
  }
  errno = spawn_process(argv, dir, in[0], out[1], err[1], &pid);
  int why = errno;
  (void)close(in[0]);
  (void)close(out[1]);
  (void)close(err[1]);
  if (why != 0) {
    (void)close(in[1]);
    (void)close(out[0]);
    (void)close(err[0]);
    errno = why;
    return push_errno(L);
  }
  lua_pushinteger(L, pid);
  lua_pushinteger(L, in[1]);
  lua_pushinteger(L, out[0]);
  lua_pushinteger(L, err[0]);
  return 4;
}

/* tool.wait_any({fds} [, look]) -> set of those that have something or have
** ended; with `look` it does not wait. */
static int l_wait_any (lua_State *L) {
  struct pollfd p[MAX_WAITED];
  luaL_checktype(L, 1, LUA_TTABLE);
  int n = (int)luaL_len(L, 1);
  luaL_argcheck(L, n >= 1 && n <= MAX_WAITED, 1, "1 to 8 descriptors");
  for (int i = 0; i < n; i++) {
    lua_geti(L, 1, i + 1);
    p[i] = (struct pollfd){ (int)luaL_checkinteger(L, -1), POLLIN, 0 };
    lua_pop(L, 1);
  }
  while (poll(p, (nfds_t)n, lua_toboolean(L, 2) ? 0 : -1) < 0)
    if (errno != EINTR) return push_errno(L);
  lua_newtable(L);
  for (int i = 0; i < n; i++) {
    if (p[i].revents == 0) continue;
    lua_pushboolean(L, 1);
    lua_rawseti(L, -2, p[i].fd);
  }
  return 1;
}

/* tool.read(fd) -> what is there, "" at the end. */
static int l_read (lua_State *L) {
  char b[CHUNK];
  ssize_t n;
  do n = read((int)luaL_checkinteger(L, 1), b, sizeof b);
  while (n < 0 && errno == EINTR);
  lua_pushlstring(L, b, n > 0 ? (size_t)n : 0);
  return 1;
}

/* tool.write(fd, text) -> did all of it go? */
static int l_write (lua_State *L) {
  int fd = (int)luaL_checkinteger(L, 1);
  size_t n;
  const char *s = luaL_checklstring(L, 2, &n);
  while (n > 0) {
    ssize_t k = write(fd, s, n);
    if (k < 0 && errno != EINTR) break;
    if (k > 0) { s += k; n -= (size_t)k; }
  }
  lua_pushboolean(L, n == 0);
  return 1;
}

static int l_close (lua_State *L) {
  (void)close((int)luaL_checkinteger(L, 1));
  return 0;
}

/* tool.kill(pid, "int" | "kill" | "term"): below 0 a whole group. */
static int l_kill (lua_State *L) {
  static const char *const names[] = {"int", "kill", "term", NULL};
  static const int signals[] = {SIGINT, SIGKILL, SIGTERM};
  pid_t pid = (pid_t)luaL_checkinteger(L, 1);
  luaL_argcheck(L, pid > 1 || pid < -1, 1, "no process");
  (void)kill(pid, signals[luaL_checkoption(L, 2, NULL, names)]);
  return 0;
}

/* tool.reap(pid) -> exit code; of a signal 128 and its number. */
static int l_reap (lua_State *L) {
  int status = 0;
  pid_t pid = (pid_t)luaL_checkinteger(L, 1);
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  lua_pushinteger(L, WIFEXITED(status) ? WEXITSTATUS(status)
                                       : 128 + WTERMSIG(status));
  return 1;
}

/* tool.listen(port) -> fd, port: on this machine only; 0 takes any port. */
static int l_listen (lua_State *L) {
  lua_Integer port = luaL_checkinteger(L, 1);
  struct sockaddr_in a;
  socklen_t n = sizeof a;
  int one = 1;
  luaL_argcheck(L, port >= 0 && port < 65536, 1, "0 to 65535");
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return push_errno(L);
  memset(&a, 0, sizeof a);
  a.sin_family = AF_INET;
  a.sin_port = htons((uint16_t)port);
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind(fd, (struct sockaddr *)&a, sizeof a) != 0 || listen(fd, 1) != 0 ||
      getsockname(fd, (struct sockaddr *)&a, &n) != 0) {
    int why = errno;
    (void)close(fd);
    errno = why;
    return push_errno(L);
  }
  lua_pushinteger(L, fd);
  lua_pushinteger(L, ntohs(a.sin_port));
  return 2;
}

/* tool.accept(fd) -> fd of the first client. */
static int l_accept (lua_State *L) {
  int fd;
  do fd = accept4((int)luaL_checkinteger(L, 1), NULL, NULL, SOCK_CLOEXEC);
  while (fd < 0 && errno == EINTR);
  if (fd < 0) return push_errno(L);
  lua_pushinteger(L, fd);
  return 1;
}

/* tool.connect(port) -> fd: a client of this machine's, for tests. */
static int l_connect (lua_State *L) {
  struct sockaddr_in a;
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return push_errno(L);
  memset(&a, 0, sizeof a);
  a.sin_family = AF_INET;
  a.sin_port = htons((uint16_t)luaL_checkinteger(L, 1));
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, (struct sockaddr *)&a, sizeof a) != 0) {
    int why = errno;
    (void)close(fd);
    errno = why;
    return push_errno(L);
  }
  lua_pushinteger(L, fd);
  return 1;
}

static int l_setenv (lua_State *L) {
  (void)setenv(luaL_checkstring(L, 1), luaL_checkstring(L, 2), 1);
  return 0;
}

void dtL_process_open (lua_State *L) {
  static const luaL_Reg fns[] = {
    {"accept", l_accept}, {"close", l_close}, {"connect", l_connect},
    {"kill", l_kill}, {"listen", l_listen}, {"read", l_read},
    {"reap", l_reap}, {"setenv", l_setenv}, {"spawn", l_spawn},
    {"wait_any", l_wait_any}, {"write", l_write}, {NULL, NULL}
  };
  luaL_setfuncs(L, fns, 0);
}
