# SPDX-License-Identifier: MIT
# The clocks go on while a program sleeps, also beside threads.
import datetime
import threading
import time

began = [time.time(), time.monotonic(), time.perf_counter(), time.time_ns()]
day = datetime.datetime.now()
time.sleep(0.25)
past = [time.time() - began[0], time.monotonic() - began[1],
        time.perf_counter() - began[2], (time.time_ns() - began[3]) / 1e9]
print([0.25 <= p < 5 for p in past],
      datetime.datetime.now() - day >= datetime.timedelta(seconds=0.25))

start = time.monotonic()
workers = [threading.Thread(target=time.sleep, args=(s / 10,)) for s in (1, 3)]
for w in workers:
    w.start()
for w in workers:
    w.join()
print(0.3 <= time.monotonic() - start < 5)

end = time.time() + 0.2
turns = 0
while time.time() < end:
    time.sleep(0.05)
    turns += 1
print(2 <= turns <= 4)
time.sleep(0)
try:
    time.sleep(-1)
except ValueError as e:
    print(e)
for seconds in (float("nan"), float("inf"), 10**30):
    try:
        time.sleep(seconds)
    except (ValueError, OverflowError) as e:
        print(type(e).__name__, e)
print(time.monotonic() - start < 60)
