#!/bin/sh
# An evaluator for Luminary as a shell script: one process per evaluation. Run it with
#
#     [evaluator]
#     protocol = "files"
#     command = ["./sphere.sh", "{params}", "{result}"]
#     files = { format = "text" }
#
# The parameter file has one number per line. The result file takes the objective (to be maximised) and the measures.
# A non-zero exit code is a failed evaluation; what is printed is shown when it fails.
set -eu
params=$1
result=$2

awk '
    { sum += $1 * $1 }
    NR <= 2 { measure[NR] = $1 }
    END { printf "%.17g\n%.17g\n%.17g\n", -sum, measure[1], measure[2] }
' "$params" > "$result"
