#!/bin/sh
# A throw, as an evaluator for Luminary: call your own simulator instead of awk.
#
# Luminary starts this script once for each evaluation: sh evaluator.sh PARAMS RESULT, in a folder of its own. PARAMS has
# one number a line; RESULT gets the objective and the measures. Any exit code but 0 means that there is no value.
set -e
awk '
{ solution[NR] = $1; if ($1 < 0 || $1 > 1) outside = $1 }
END {
    if (outside) { print "expected components within [0, 1], found " outside > "/dev/stderr"; exit 1 }
    speed = 5 + 25 * solution[1]
    angle = 0.1 + 1.4 * solution[2]
    mass = 0.2 + 0.8 * solution[3]
    vx = speed * cos(angle); vy = speed * sin(angle)
    x = 0; y = 0; height = 0; step = 0.01
    while (y >= 0) {
        drag = 0.01 / mass * sqrt(vx ^ 2 + vy ^ 2)
        vx -= step * drag * vx
        vy -= step * (9.81 + drag * vy)
        x += step * vx
        y += step * vy
        if (y > height) height = y
    }
    printf "%.17g %.17g %.17g\n", 0.5 * mass * speed ^ 2, x, height
}' "$1" > "$2"
