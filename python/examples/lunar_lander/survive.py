"""The search on a Dask cluster whose worker is killed in the middle: the same policies as if nothing had happened.

    pip install "gymnasium[box2d]" "luminary[dask]"
    python python/examples/lunar_lander/survive.py --iterations 20

Two workers on this machine evaluate the search. After half of the iterations one of them is killed with `kill -9`, as the
operating system does when memory is short. Then the same search runs on processes of this machine, undisturbed, and both archives
are compared bit by bit.
"""

import argparse
import hashlib
import os
import signal
import sys

import distributed
import lander
import numpy as np
from search import SETTINGS

import luminary


def main():
    parser = argparse.ArgumentParser(description="LunarLander on Dask, with a worker killed in the middle.")
    parser.add_argument("--algorithm", default="cma_me")
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--batch-size", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    loopback = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **loopback)
    with cluster, distributed.Client(cluster) as client:
        # Workers must find the module of the simulator, which lies beside this file.
        client.upload_file(lander.__file__)
        killed = []

        def kill_one(run):
            if not killed and run.iterations >= given.iterations / 2:
                worker = next(iter(client.run(os.getpid).values()))
                os.kill(worker, signal.SIGKILL)
                killed.append(worker)

        disturbed = search(given, client, kill_one)
    undisturbed = search(given, 2, None)
    print(f"worker {killed[0]} was killed; {disturbed.run.evaluations:,} episodes, failures: {disturbed.run.failures or 'none'}")
    print(f"on Dask, disturbed:    {digest(disturbed)}")
    print(f"here, undisturbed:     {digest(undisturbed)}")
    if digest(disturbed) != digest(undisturbed):
        sys.exit("expected the same archive, found another")


def search(given, engine, callback):
    settings = {**SETTINGS, "batch_size": given.batch_size, "algorithm": given.algorithm, "seed": given.seed}
    return luminary.run(lander.fly, setup=lander.make, engine=engine, callback=callback, iterations=given.iterations, **settings)


def digest(result):
    """A name for all bits of an archive."""
    sums = hashlib.sha256()
    for name, column in sorted(result.archive.data().items()):
        sums.update(name.encode())
        sums.update(np.ascontiguousarray(column).tobytes())
    return sums.hexdigest()[:16]


if __name__ == "__main__":
    main()
