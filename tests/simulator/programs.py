"""Small programs for numba.cuda, as strangers write them."""

RIGHT = """
import sys
import numpy as np
from numba import cuda

@cuda.jit("void(float32[:], float32)")
def scale(a, by):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= by

a = cuda.to_device(np.arange(5, dtype=np.float32))
scale[1, 32](a, 3)
print(a.copy_to_host().tolist(), sys.argv[1:])
"""

TREE_WITHOUT_BARRIERS = """
import numpy as np
from numba_cuda_mlir import cuda

@cuda.jit
def total(a, out):
    s = cuda.shared.array(128, np.float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    n = 64
    while n > 0:
        if t < n:
            s[t] += s[t + n]
        n //= 2
    if t == 0:
        out[0] = s[0]

@cuda.jit
def count(a, out):
    if a[cuda.grid(1)] > 0:
        out[0] += 1

out = np.zeros(1, np.float32)
total[1, 128](np.ones(128, np.float32), out)
count[1, 64](np.ones(64), out)
print("the end")
"""

OUT_OF_BOUNDS = """
import numpy as np
from numba import cuda

@cuda.jit
def shift(a):
    i = cuda.grid(1)
    a[i] = a[i + 1]

def main():
    shift[1, 8](np.zeros(8))

main()
"""

REFUSED = """
import numpy as np
from numba import cuda

@cuda.jit
def kernel(a):
    a[0] = sum(a)

kernel[1, 1](np.zeros(8))
"""

RACES_AND_REFUSED = """
import numpy as np
from numba import cuda

@cuda.jit
def races(a):
    a[0] += 1

@cuda.jit
def kernel(a):
    a[0] = sum(a)

races[1, 64](np.zeros(1))
kernel[1, 1](np.zeros(8))
"""

NEGATIVE = """
import numpy as np
from numba import cuda

@cuda.jit
def differences(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] - a[i - 1]

out = np.zeros(4)
differences[1, 32](np.arange(4.0), out)
print(out.tolist())
"""
