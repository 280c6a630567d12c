"""The place that a record of logging names."""
import logging, sys
logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(filename)s:%(lineno)d:%(funcName)s:%(module)s %(message)s")
log = logging.getLogger(__name__)
class C:
    def m(self):
        for i in range(1):
            if i == 0:
                log.info("in m")
        logging.error("root")
def wrap(msg):
    log.info(msg, stacklevel=2)
def g():
    log.info("gen"); yield 1
C().m()
wrap("outer")
list(g())
(lambda: log.info("lam"))()
with open(sys.argv[0]) as f:
    log.info(
        "two lines")
