# SPDX-License-Identifier: MIT
# Threads by turns, locks, queues, executors, clocks that sleep() moves.
import threading, queue, time
from concurrent.futures import ThreadPoolExecutor, as_completed, wait, Future
res=[]; lock=threading.Lock()
def work(i):
    with lock: res.append(i*i)
ts=[threading.Thread(target=work,args=(i,),name=f"w{i}",daemon=True) for i in range(4)]
for t in ts: t.start()
for t in ts: t.join()
print(sorted(res), ts[0].name, ts[0].is_alive(), ts[0].daemon)
q=queue.Queue(maxsize=3)
def prod():
    for i in range(5): q.put(i)
    q.put(None)
t=threading.Thread(target=prod); t.start(); got=[]
while (x:=q.get()) is not None: got.append(x); q.task_done()
t.join(); print(got, q.empty(), q.qsize())
try: q.get_nowait()
except queue.Empty: print("empty")
with ThreadPoolExecutor(max_workers=2) as ex:
    fs=[ex.submit(pow,i,2) for i in range(4)]
    print([f.result() for f in fs], list(ex.map(lambda a,b:a+b,[1,2],[3,4])), sorted(f.result() for f in as_completed(fs)))
    f=ex.submit(lambda: 1/0)
    try: f.result()
    except ZeroDivisionError as e: print("err",e)
    print(f.exception(), f.done(), f.cancelled())
ev=threading.Event(); print(ev.is_set()); ev.set(); print(ev.wait(1))
loc=threading.local(); loc.x=1; print(loc.x, threading.current_thread().name, threading.main_thread() is threading.current_thread())
pq=queue.PriorityQueue(); pq.put((2,"b")); pq.put((1,"a")); print(pq.get()); lq=queue.LifoQueue(); lq.put(1); lq.put(2); print(lq.get())
rl=threading.RLock()
with rl:
    with rl: print("re")
sem=threading.Semaphore(2); print(sem.acquire(), sem.acquire(blocking=False), sem.acquire(blocking=False))
class W(threading.Thread):
    def __init__(s,n): super().__init__(); s.n=n
    def run(s): s.out=s.n+1
w=W(4); w.start(); w.join(); print(w.out, lock.locked(), lock.acquire(False)); lock.release()
b=threading.Timer(0.01,lambda: print("timer")); b.start(); b.join()
c=threading.Condition()
with c: c.notify_all()
out = []
def late(name, seconds):
    time.sleep(seconds); out.append(name)
ts = [threading.Thread(target=late, args=(n, s)) for n, s in (("c", .3), ("a", .1), ("b", .2))]
for t in ts: t.start()
for t in ts: t.join()
print(out, threading.active_count())
bar = threading.Barrier(3); met = []
def meet(i): met.append(("in", i)); bar.wait(); met.append("out")
ts = [threading.Thread(target=meet, args=(i,)) for i in range(3)]
for t in ts: t.start()
for t in ts: t.join()
print(met[:3], met[3:])
cond = threading.Condition(); items = []
def consume():
    with cond:
        while not items: cond.wait()
        print("took", items.pop())
t = threading.Thread(target=consume); t.start()
with cond: items.append(7); cond.notify()
t.join(timeout=5)
own = threading.local(); own.x = "main"
def local_thread():
    print(hasattr(own, "x")); own.x = "thread"; print(own.x)
t = threading.Thread(target=local_thread); t.start(); t.join(); print(own.x)
print(threading.Event().wait(0.01), threading.Lock().acquire(timeout=0.1))
held = threading.Lock(); held.acquire()
print(held.acquire(timeout=0.05), held.acquire(False), repr(threading.Thread(name="n", target=print)))
try: queue.Queue().get(timeout=0.01)
except queue.Empty: print("none came")
try: threading.Thread(target=print).join()
except RuntimeError as e: print(e)
def fails(): raise ValueError("in a thread")
threading.excepthook = lambda a: print("hook", a.exc_type.__name__, a.exc_value, a.thread.name)
t = threading.Thread(target=fails, name="bad"); t.start(); t.join(); print(t.is_alive())
with ThreadPoolExecutor(2) as ex:
    q2 = queue.Queue()
    futures = [ex.submit(q2.get) for _ in range(3)]
    for i in range(3): q2.put(i)
    print(sorted(f.result() for f in futures), wait(futures).done == set(futures))
threading.Thread(target=lambda: (time.sleep(0.05), print("after the end"))).start()
print("end")
