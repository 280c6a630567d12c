# SPDX-License-Identifier: MIT
"""signal: names, numbers and handlers.  No signal comes from outside the
program; one that it raises itself is handled at once."""
import _absent
import enum

_NAMES = """SIGHUP SIGINT SIGQUIT SIGILL SIGTRAP SIGABRT SIGBUS SIGFPE SIGKILL
SIGUSR1 SIGSEGV SIGUSR2 SIGPIPE SIGALRM SIGTERM SIGSTKFLT SIGCHLD SIGCONT SIGSTOP
SIGTSTP SIGTTIN SIGTTOU SIGURG SIGXCPU SIGXFSZ SIGVTALRM SIGPROF SIGWINCH SIGIO
SIGPWR SIGSYS""".split()
_WORDS = {1: "Hangup", 2: "Interrupt", 3: "Quit", 4: "Illegal instruction",
          5: "Trace/breakpoint trap", 6: "Aborted", 7: "Bus error",
          8: "Floating point exception", 9: "Killed",
          10: "User defined signal 1", 11: "Segmentation fault",
          12: "User defined signal 2", 13: "Broken pipe", 14: "Alarm clock",
          15: "Terminated", 17: "Child exited", 18: "Continued",
          19: "Stopped (signal)", 20: "Stopped"}

Signals = enum.IntEnum("Signals", _NAMES, module="signal")
Handlers = enum.IntEnum("Handlers", {"SIG_DFL": 0, "SIG_IGN": 1},
                        module="signal")
Sigmasks = enum.IntEnum("Sigmasks", {"SIG_BLOCK": 0, "SIG_UNBLOCK": 1,
                                     "SIG_SETMASK": 2}, module="signal")
for _kind in (Signals, Handlers, Sigmasks):
    for _one in _kind:
        globals()[_one.name] = _one
SIGCLD, SIGPOLL, NSIG = Signals.SIGCHLD, Signals.SIGIO, 65


def default_int_handler(signalnum, frame, /):
    raise KeyboardInterrupt


_handlers = {2: default_int_handler, 13: Handlers.SIG_IGN,
             25: Handlers.SIG_IGN}


def _number(signalnum):
    number = int(signalnum)
    if not 0 < number < NSIG:
        raise ValueError("signal number out of range")
    return number


def getsignal(signalnum, /):
    return _handlers.get(_number(signalnum), Handlers.SIG_DFL)


def signal(signalnum, handler, /):
    number = _number(signalnum)
    if not callable(handler) and handler not in (0, 1):
        raise TypeError("signal handler must be signal.SIG_IGN, "
                        "signal.SIG_DFL, or a callable object")
    if number in (9, 19):
        raise OSError(22, "Invalid argument")
    before = getsignal(number)
    _handlers[number] = handler if callable(handler) else Handlers(handler)
    return before


def raise_signal(signalnum, /):
    number = _number(signalnum)
    handler = getsignal(number)
    if handler == Handlers.SIG_IGN:
        return
    if not callable(handler) or handler == Handlers.SIG_DFL:
        raise _absent.error("signal.raise_signal of a signal without a "
                            "handler is not part of dtrepl")
    handler(number, None)


def strsignal(signalnum, /):
    return _WORDS.get(_number(signalnum))


def valid_signals():
    return {Signals(i + 1) if i < len(_NAMES) else i + 1
            for i in range(NSIG - 1) if i + 1 not in (32, 33)}


def alarm(seconds, /):
    if seconds:
        raise _absent.error("signal.alarm is not part of dtrepl: nothing runs "
                            "beside the program")
    return 0


def siginterrupt(signalnum, flag, /):
    pass


def set_wakeup_fd(fd, /, *, warn_on_full_buffer=True):
    return -1


def __getattr__(name):
    if name in ("setitimer", "getitimer", "pause", "sigwait", "pthread_kill",
                "pthread_sigmask", "sigpending", "sigtimedwait",
                "sigwaitinfo"):
        raise _absent.error(f"signal.{name} is not part of dtrepl: nothing "
                            "runs beside the program")
    raise AttributeError(f"module 'signal' has no attribute {name!r}")
