#!/bin/sh
# Compiles the corpus again: cuda/NAME.cu to ptx/NAME.ptx.gz, by nvcc 13.0. Run it after changes in cuda/; commit what it
# writes.
set -eu
cd "$(dirname "$0")"
here=$(pwd)
compile() { # file, architecture, further options
  file=$1
  arch=$2
  shift 2
  nvcc -std=c++17 -ptx -O3 -arch="$arch" "$@" -o "ptx/$file.ptx" "cuda/$file.cu"
  finish "$file" "$arch"
}
compile_debug() { # file, architecture: for a debugger, beside what `compile` makes of it
  nvcc -std=c++17 -ptx -G -w -arch="$2" -o "ptx/$1_debug.ptx" "cuda/$1.cu"
  finish "$1_debug" "$2"
}
finish() { # result, architecture
  # Line information names files by where they were; that says nothing elsewhere.
  sed -i "s|$here/cuda/||; s|\"/[^\"]*/include/|\"include/|" "ptx/$1.ptx"
  ptxas -arch="$2" -o /dev/null "ptx/$1.ptx"
  gzip -9nf "ptx/$1.ptx"
}
compile reduce sm_80
compile scan sm_80 -lineinfo
compile histogram sm_80
compile sort sm_80
compile control sm_80 -lineinfo
compile sync sm_80
compile integer sm_80
compile half sm_90
compile math sm_80
compile math_double sm_80
compile library sm_80
compile matrix sm_80
compile async sm_80
compile hopper sm_90
compile wgmma sm_90a
compile undefined sm_80
compile_debug undefined sm_80
compile blocks sm_80 --extended-lambda
compile_debug undefined_bugs sm_80
compile padding sm_80
compile_debug padding sm_80
