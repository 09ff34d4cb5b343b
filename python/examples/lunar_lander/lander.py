"""Landing on the moon: a linear policy of 32 weights, flown in Gymnasium's LunarLander-v3.

The objective is the reward of an episode. The measures say how the lander comes down: where it first touches the ground, and
how fast it falls then. An archive of policies that land in many ways is what quality-diversity search is for: when one way is
blocked, another one is at hand.
"""

import numpy as np

#: The terrain. Every policy flies over the same one.
TERRAIN = 52

#: Weights of a policy: a score for each of four actions from eight observations.
SHAPE = (4, 8)
SOLUTION_DIM = SHAPE[0] * SHAPE[1]

#: Where the lander touches down, and how fast it falls then.
MEASURES = [(-1.0, 1.0), (-3.0, 0.0)]

#: The worst reward that is worth keeping.
MIN_REWARD = -600.0


def make(render_mode=None):
    """The simulator. It is built once for each worker.

    One that can be drawn (``render_mode="rgb_array"``) also moves the sparks of the engines, which takes most of its time and
    changes no episode. The checks of Gymnasium are for those who write simulators.
    """
    import gymnasium

    return gymnasium.make("LunarLander-v3", render_mode=render_mode, disable_env_checker=True)


def fly(simulator, weights, on_frame=None):
    """Flies one episode; returns the reward, and place and speed at touchdown.

    Args:
        simulator: What :func:`make` returns, for drawing if pictures are wanted.
        weights: A solution.
        on_frame: Called with each picture, if somebody wants to see them.
    """
    policy = np.asarray(weights).reshape(SHAPE)
    observation, _ = simulator.reset(seed=TERRAIN)
    reward = 0.0
    touchdown = None
    lowest_speed = 0.0
    is_over = False
    while not is_over:
        observation, gained, has_ended, is_late, _ = simulator.step(int((policy @ observation).argmax()))
        is_over = has_ended or is_late
        reward += gained
        place, speed = observation[0], observation[3]
        lowest_speed = min(lowest_speed, speed)
        touches = observation[6] or observation[7]
        if touchdown is None and touches:
            touchdown = (place, speed)
        if on_frame is not None:
            on_frame(simulator.render())
    if touchdown is None:
        # It crashed without its legs, or never came down.
        touchdown = (place, lowest_speed)
    return float(reward), [float(measure) for measure in touchdown]
