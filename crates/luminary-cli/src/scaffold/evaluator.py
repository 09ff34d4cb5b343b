"""A throw, as an evaluator for Luminary: replace `simulate` by your own simulation.

Luminary starts this program once for each worker and speaks JSON lines with it, over standard input and output.
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
    json.loads(sys.stdin.readline())
    # Flush after every line, and print nothing else to standard output: standard error is free.
    print(json.dumps({"version": 1}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        results = []
        for solution in request["solutions"]:
            try:
                results.append(simulate(solution))
            except Exception as error:
                # This solution has no value; the others have.
                results.append({"error": str(error)})
        print(json.dumps({"id": request["id"], "results": results}), flush=True)


if __name__ == "__main__":
    main()
