"""A throw, as an evaluator for Luminary: put your own simulator in the place of `simulate`.

Luminary starts this program once for each evaluation: python3 evaluator.py PARAMS RESULT, in a folder of its own, where
a simulator may leave whatever files it likes.
"""

import json
import math
import sys


def simulate(solution):
    """Throws a ball; returns the energy it took, and how far and how high it went."""
    if not all(0 <= component <= 1 for component in solution):
        raise ValueError(f"expected components within [0, 1], found {solution}")
    speed = 5 + 25 * solution[0]
    angle = 0.1 + 1.4 * solution[1]
    mass = 0.2 + 0.8 * solution[2]
    x, y, vx, vy = 0.0, 0.0, speed * math.cos(angle), speed * math.sin(angle)
    height, step = 0.0, 0.01
    while y >= 0.0:
        drag = 0.01 / mass * math.hypot(vx, vy)
        vx -= step * drag * vx
        vy -= step * (9.81 + drag * vy)
        x += step * vx
        y += step * vy
        height = max(height, y)
    return {"objective": 0.5 * mass * speed**2, "measures": [x, height]}


def main():
    params, result = sys.argv[1:]
    with open(params) as file:
        solution = json.load(file)["solution"]
    # An exception ends this program with an exit code that is not 0, and the solution has no value.
    values = simulate(solution)
    with open(result, "w") as file:
        json.dump(values, file)


if __name__ == "__main__":
    main()
