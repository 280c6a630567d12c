# SPDX-License-Identifier: MIT
# The stores of torch.distributed in one process.
import torch.distributed as dist, datetime
from datetime import timedelta
def t(f):
    try: print(f, "->", repr(eval(f)))
    except Exception as e: print(f, "->", type(e).__name__, str(e).split("\n")[0][:160], type(e).__mro__[1].__name__)

for s in (dist.HashStore(), dist.TCPStore("127.0.0.1", 0, 1, True), dist.FileStore('store_file', 1)):
    print(type(s).__name__)
    for f in ['s.set("a","1")','s.get("a")','s.set("b", b"x")','s.get("b")','s.add("n",5)','s.add("n",-2)','s.get("n")','s.add("a",4)','s.num_keys()','s.check(["a","b"])','s.check(["zz"])','s.check("a")',
      's.delete_key("a")','s.delete_key("a")','s.compare_set("k","x","y")','s.compare_set("k","","y")','s.compare_set("k","y","z")','s.get("k")','s.multi_set(["m","o"],["1","2"])','s.multi_get(["m","o"])','s.append("m","9")','s.get("m")','s.set("q",1)','s.get(3)', 's.has_extended_api()','s.timeout','s.set_timeout(timedelta(seconds=0.3))','s.timeout','s.get("none")','s.wait(["none","m"])','s.wait(["m"])','s.wait(["none"], timedelta(milliseconds=20))', 's.set("e","")','s.get("e")', 'sorted(s.list_keys())']: t(f)
s=dist.HashStore(); p=dist.PrefixStore("pre", s); p.set("x","1")
for f in ['s.get("pre/x")','p.get("x")','p.underlying_store is s','type(p.underlying_store)','p.num_keys()','p.add("c",2)','s.get("pre/c")','isinstance(p, dist.Store)','dist.PrefixStore("u",p).set("y","2")','s.get("pre/u/y")', 'dist.Store.__name__', 'dist.HashStore.__module__', 'dist.TCPStore()', 'dist.FileStore("zz9").path']: t(f)
