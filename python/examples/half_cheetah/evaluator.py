"""HalfCheetah as an evaluator of the command line, by JSON lines: `luminary run luminary.toml` starts one for each worker."""

import json
import sys

import cheetah


def main():
    # Libraries may print; standard output belongs to the protocol.
    answers = sys.stdout
    sys.stdout = sys.stderr
    simulator = cheetah.make()
    json.loads(sys.stdin.readline())
    print(json.dumps({"hello": "HalfCheetah", "version": 1}), file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        runs = [cheetah.gallop(simulator, weights) for weights in request["solutions"]]
        results = [{"objective": reward, "measures": feet} for reward, feet in runs]
        print(json.dumps({"id": request["id"], "results": results}), file=answers, flush=True)


if __name__ == "__main__":
    main()
