"""Running in many gaits: a linear policy of 102 weights, in Gymnasium's HalfCheetah-v5 on MuJoCo.

The objective is the reward of an episode: how far the cheetah comes, less what its motors spend. The measures are the shares of
the time that each foot is on the ground. An archive of them is a collection of gaits: on both feet, on one of them, or nearly in
flight. When a leg is hurt, a gait that spares it is at hand.
"""

import numpy as np

#: Where the cheetah starts, with a little noise. Every policy starts there.
START = 1

#: Weights of a policy: the torque of each of six motors from seventeen observations.
SHAPE = (6, 17)
SOLUTION_DIM = SHAPE[0] * SHAPE[1]

#: Shares of the time that the back foot and the front foot are on the ground.
MEASURES = [(0.0, 1.0), (0.0, 1.0)]

#: The worst reward that is worth keeping. Those that run backwards lose more than a thousand.
MIN_REWARD = -2000.0

FEET = ("bfoot", "ffoot")


def make():
    """The simulator. It is built once for each worker. The checks of Gymnasium are for those who write simulators."""
    import gymnasium

    return gymnasium.make("HalfCheetah-v5", disable_env_checker=True)


def gallop(simulator, weights, on_step=None):
    """Runs one episode of a thousand steps; returns the reward, and the share of the time that each foot is on the ground.

    Args:
        simulator: What :func:`make` returns.
        weights: A solution.
        on_step: Called with MuJoCo's model and data after each step, if somebody wants to draw them.
    """
    policy = np.asarray(weights).reshape(SHAPE)
    observation, _ = simulator.reset(seed=START)
    model = simulator.unwrapped.model
    data = simulator.unwrapped.data
    feet = [model.geom(foot).id for foot in FEET]
    steps_on_ground = [0, 0]
    n_steps = 0
    reward = 0.0
    is_over = False
    while not is_over:
        # Motors take torques from -1 to 1.
        observation, gained, has_ended, is_late, _ = simulator.step(np.tanh(policy @ observation))
        is_over = has_ended or is_late
        reward += gained
        n_steps += 1
        # Feet touch nothing but the floor: the model lets parts of the body pass through each other.
        touching = data.contact.geom
        for foot, geom in enumerate(feet):
            steps_on_ground[foot] += int((touching == geom).any())
        if on_step is not None:
            on_step(model, data)
    return float(reward), [steps / n_steps for steps in steps_on_ground]
