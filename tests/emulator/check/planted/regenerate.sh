#!/bin/sh
# Compiles the planted mistakes and their twins again, by nvcc 13.0. Run it after changes to kernels.cu.
set -eu
cd "$(dirname "$0")"
nvcc -std=c++17 -ptx -O3 -arch=sm_90 -DWRONG -o wrong.ptx kernels.cu
nvcc -std=c++17 -ptx -O3 -arch=sm_90 -o right.ptx kernels.cu
gzip -9nf wrong.ptx right.ptx
