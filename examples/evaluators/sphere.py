#!/usr/bin/env python3
"""An evaluator for Luminary in plain Python: JSON lines on stdin and stdout.

Replace `evaluate` by your own. Run it with

    [evaluator]
    command = ["python3", "sphere.py"]
    workers = 4
"""

import json
import os
import sys


def evaluate(solution):
    """Objective (to be maximised) and measures of one solution."""
    return -sum([x * x for x in solution]), solution[:2]


def jacobian(solution):
    """Gradients of the objective and of each measure. Leave it out if you have none, and say so in the hello."""
    unit = lambda i: [1.0 if j == i else 0.0 for j in range(len(solution))]
    return [[-2.0 * x for x in solution], unit(0), unit(1)]


def result(solution, wants_jacobian):
    try:
        objective, measures = evaluate(solution)
        answer = {"objective": objective, "measures": measures}
        if wants_jacobian:
            answer["jacobian"] = jacobian(solution)
        return answer
    except Exception as error:  # this row failed; the others are fine
        return {"error": repr(error)}


def main():
    # Answers go to the real stdout; whatever else is printed, even by libraries in C, goes to stderr.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    hello = json.loads(sys.stdin.readline())
    assert hello["version"] == 1, hello
    answers.write('{"hello": "sphere.py", "version": 1, "jacobian": true}\n')
    answers.flush()

    for line in sys.stdin:  # ends when Luminary closes the pipe
        request = json.loads(line)
        wants_jacobian = request["jacobian"]
        results = [result(solution, wants_jacobian) for solution in request["solutions"]]
        answers.write(json.dumps({"id": request["id"], "results": results}) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
