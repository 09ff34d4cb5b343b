"""Draws an elite of a run folder as an animation: python render.py DIR best.gif [PLACE SPEED]."""

import sys

import lander
from PIL import Image

import luminary

#: Of 50 frames a second.
EVERY = 2


def main(folder, path, *measures):
    elite = luminary.elite(folder, measures=[float(measure) for measure in measures] or None)
    frames = []
    reward, touchdown = lander.fly(lander.make(), elite["solution"], on_frame=frames.append)
    pictures = [Image.fromarray(frame).resize((300, 200)) for frame in frames[::EVERY]]
    pictures[0].save(path, save_all=True, append_images=pictures[1:], duration=20 * EVERY, loop=0)
    print(f"reward {reward:.2f}, touches down at {touchdown[0]:.2f} with speed {touchdown[1]:.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
