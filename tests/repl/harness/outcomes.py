# SPDX-License-Identifier: MIT
# Every way a test can end, on three ranks.
import functools
import unittest

import torch
import torch.distributed as dist; dist.init_process_group("gloo")
from torch.testing._internal.common_utils import (
    TestCase, instantiate_parametrized_tests, parametrize, run_tests, subtest)


@instantiate_parametrized_tests
class A(TestCase):
    @classmethod
    def setUpClass(cls):
        print("setUpClass")

    @classmethod
    def tearDownClass(cls):
        print("tearDownClass")

    def setUp(self):
        super().setUp()
        self.log = []
        self.addCleanup(self.log.append, "cleanup")

    def tearDown(self):
        self.log.append("tearDown")

    @unittest.skip("never")
    def test_skip(self):
        raise RuntimeError("this must be skipped")

    @unittest.skipIf(1 < 2, "not now")
    def test_skip_if(self):
        raise RuntimeError("this must be skipped")

    def test_skip_inside(self):
        self.skipTest("seen inside")

    def test_regex(self):
        with self.assertRaisesRegex(RuntimeError, r"size .* must be \d+"):
            raise RuntimeError("a size of 3 must be 7")

    def test_regex_fails(self):
        with self.assertRaisesRegex(RuntimeError, r"\[1, 2\] or so"):
            raise RuntimeError("completely different text")

    def test_regex_callable(self):
        self.assertRaisesRegex(ValueError, "^invalid literal", int, "x")

    def test_not_raised(self):
        with self.assertRaises(ValueError):
            pass

    @parametrize("n,name", [(1, "x"), (2.5, None)])
    @parametrize("dtype", [torch.float32, torch.int64])
    def test_p(self, n, name, dtype):
        self.assertIn(n, (1, 2.5))

    @parametrize("q", [subtest(1, name="one"), subtest(
        2, name="two", decorators=[unittest.skip("no two")]), 5])
    def test_q(self, q):
        self.assertIn(q, (1, 5))

    def test_parts(self):
        for i in range(3):
            with self.subTest(i=i):
                self.assertEqual(i, 0)

    def test_dtype(self):
        self.assertEqual(torch.ones(2), torch.ones(2, dtype=torch.float64))

    def test_near(self):
        self.assertEqual(1.0, 1.000005)
        self.assertEqual({"a": [1, torch.ones(2)]}, {"a": (1, [1.0, 1.0])})
        self.assertNotEqual(torch.ones(2), torch.zeros(2))
        self.assertListEqual([1], [1])
        self.assertAlmostEqual(1.0, 1.00000001)

    @unittest.expectedFailure
    def test_expected(self):
        self.assertEqual(1, 2)

    @unittest.expectedFailure
    def test_unexpected(self):
        pass

    def test_one_rank_fails(self):
        # The others wait for it in vain; the tests behind it go on.
        if dist.get_rank() == 1:
            raise ValueError("only this rank")
        # With two ranks: which of several had already arrived is chance.
        dist.all_reduce(torch.ones(1))

    def test_p_ranks_grouped(self):
        self.assertTrue(dist.get_rank() in (1, 3))

    def test_then_all_work(self):
        t = torch.ones(1)
        dist.all_reduce(t)
        self.assertEqual(t.item(), dist.get_world_size())

    def test_absent(self):
        torch.nonsense_operator(1)

    def test_leaves(self):
        raise SystemExit(0)

    def test_cleanups(self):
        self.doCleanups()
        self.assertEqual(self.log, ["cleanup"])


class B(unittest.TestCase):
    def test_plain(self):
        self.assertCountEqual([1, 2, 2], [2, 1, 2])
        with self.assertRaises(ZeroDivisionError) as caught:
            1 / 0
        self.assertEqual(str(caught.exception), "division by zero")

    def test_words(self):
        self.assertEqual([1, 2], [1, 3])


if __name__ == "__main__":
    run_tests()
