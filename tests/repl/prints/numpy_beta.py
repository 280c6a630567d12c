# SPDX-License-Identifier: MIT
# NumPy's beta distribution where neither shape is above 1.
import numpy as np
r=np.random.default_rng(3); print([r.beta(0.2,0.3) for _ in range(4)], r.beta(1,1,size=3), r.beta(0.01,0.01,size=4))
np.random.seed(1); print(np.random.beta(0.4,0.4), np.random.beta(1.0,0.5,size=(2,2)), np.random.beta(0.001,0.001,size=4))
try: np.random.beta(0,1)
except ValueError as e: print(e)
