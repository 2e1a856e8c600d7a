#!/usr/bin/env bash
# Counts the memory instructions of each entry of a cubin: scripts/bench/sass.sh generated/transpose/transpose.sm_90a.cubin
set -euo pipefail
nvdisasm -c "${1:?usage: sass.sh CUBIN}" | awk '
  /^\.text\./ { name = $1; sub(/^\.text\./, "", name); sub(/:$/, "", name); next }
  match($0, /(LDG|STG|LDS|STS|LDL|STL|BAR|SHFL|PRMT)[A-Z0-9_.]*/) {
    op = substr($0, RSTART, RLENGTH); count[name " " op]++; names[name] = 1
  }
  END { for (key in count) print key, count[key] }' | sort
