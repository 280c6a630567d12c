# SPDX-License-Identifier: MIT
# unittest.mock: what is noted, what is asserted, names that are others for a while.
import io, os, unittest
from unittest import mock
from unittest.mock import patch, Mock, MagicMock, call, ANY, sentinel, PropertyMock, create_autospec
import torch, torch.nn as nn, torch.distributed as dist
def tries(f):
    try: print("ok", f())
    except BaseException as e: print(type(e).__name__, e)
m = Mock(return_value=3)
print(m(1, a=2), m.called, m.call_count, m.call_args, m.call_args.args, m.call_args.kwargs, m.call_args_list)
m.assert_called_with(1, a=2); m.assert_called_once(); m.assert_called_once_with(1, a=2); m.assert_any_call(1, a=2)
tries(lambda: m.assert_called_with(2))
tries(lambda: m.assert_not_called())
m()
tries(lambda: m.assert_called_once())
tries(lambda: m.assert_any_call(7))
n = Mock()
tries(lambda: n.assert_called())
tries(lambda: n.assert_called_with(1))
n.a.b(1); n.a.c.d(x=2); n(4)
print(n.mock_calls, n.method_calls, n.a.mock_calls)
n.assert_has_calls([call.a.b(1), call.a.c.d(x=2)])
tries(lambda: n.assert_has_calls([call.a.b(2)]))
print(call(1) == call(1), call(1) == call(2), call(ANY, 2) == call(5, 2), call.foo(1), mock.ANY == None)
s = Mock(side_effect=[1, ValueError("bad"), 3])
print(s()); tries(s); print(s()); tries(s)
s = Mock(side_effect=lambda x: x + 1); print(s(4))
s = Mock(side_effect=KeyError("k")); tries(s)
sp = Mock(spec=["step"]); sp.step(); tries(lambda: sp.other)
sp = Mock(spec=nn.Linear); print(isinstance(sp, nn.Linear), isinstance(sp, nn.Module)); tries(lambda: sp.nothing)
mm = MagicMock(); print(len(mm), bool(mm), list(mm), 3 in mm, int(mm))
mm.__len__.return_value = 5 if False else 5
mm["a"]; mm["b"] = 1
with mm as ctx: pass
print(mm.__enter__.called, mm.__getitem__.call_args, mm.__setitem__.call_args)
mm.x.y.return_value = 7; print(mm.x.y())
c = Mock(**{"a.b.return_value": 9, "z": 1}); print(c.a.b(), c.z)
class Job:
    limit = 3
    def run(self, n): return n * 2
    @property
    def p(self): return "real"
    @staticmethod
    def st(): return "st"
with patch.object(Job, "run", return_value=1) as r:
    print(Job().run(4)); r.assert_called_once_with(4)
print(Job().run(4))
with patch.object(Job, "run", autospec=True) as r:
    j = Job(); r.return_value = None; j.run(5)
    r.assert_called_once_with(j, 5)
with patch.object(Job, "limit", 10): print(Job.limit)
with patch.object(Job, "p", new_callable=PropertyMock) as pp:
    pp.return_value = "mocked"; print(Job().p, pp.call_count)
print(Job.limit, Job().p)
j = Job()
with patch.object(j, "run") as r: j.run(1); print(r.called)
print(j.run(1), "run" in j.__dict__)
with patch.dict(os.environ, {"T25": "1"}): print(os.environ["T25"])
print("T25" in os.environ)
with patch("torch.distributed.is_initialized", return_value=True) as f: print(dist.is_initialized(), f.call_count)
print(dist.is_initialized())
@patch("torch.cuda.is_available", return_value=True)
@patch.object(nn.Linear, "forward", lambda self, x: x * 0)
def g(m): return torch.cuda.is_available(), nn.Linear(2, 2)(torch.ones(1, 2)).tolist(), m.call_count
print(g(), torch.cuda.is_available())
tries(lambda: patch.object(Job, "missing").__enter__())
tries(lambda: patch("nodots"))
p = patch.object(Job, "limit", 8); p.start(); print(Job.limit); p.stop(); print(Job.limit)
print(sentinel.a, sentinel.a is sentinel.a, sentinel.b is sentinel.a)
w = Mock(wraps=Job()); print(w.run(3), w.run.call_count)
print(repr(Mock(name="lr"))[:21], repr(Mock().foo.bar())[:31])
tries(lambda: Mock().assert_foo())
m = Mock(); m.reset_mock(); m(1); m.reset_mock(); print(m.call_count, m.call_args)
class T(unittest.TestCase):
    @patch.object(Job, "limit", 99)
    def test_a(self): self.assertEqual(Job.limit, 99)
    def test_b(self):
        p = patch("os.getcwd", return_value="/x"); f = p.start(); self.addCleanup(p.stop)
        self.assertEqual(os.getcwd(), "/x"); f.assert_called_once()
for name in ("test_a", "test_b"): T(name).debug()
class B: pass
class A:
    @property
    def __class__(self): return B
a = A()
print(a.__class__, isinstance(a, B), isinstance(a, A), type(a))
class D: pass
print(type(D()), D().__class__, isinstance(D(), (A, B)), issubclass(type(a), B))
