"""Draws an elite as an animation: `luminary replay DIR --best --render best.gif` calls it, by the configuration.

It reads the elite as JSON and writes the file that it is given:

    luminary elite DIR --best --json | python render.py best.gif
"""

import json
import sys

import lander
from PIL import Image

#: Of 50 frames a second.
EVERY = 2


def main(path):
    elite = json.load(sys.stdin)
    frames = []
    simulator = lander.make(render_mode="rgb_array")
    reward, touchdown = lander.fly(simulator, elite["solution"], on_frame=frames.append)
    pictures = [Image.fromarray(frame).resize((300, 200)) for frame in frames[::EVERY]]
    pictures[0].save(path, "GIF", save_all=True, append_images=pictures[1:], duration=20 * EVERY, loop=0)
    print(f"reward {reward:.2f}, touches down at {touchdown[0]:.2f} with speed {touchdown[1]:.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
