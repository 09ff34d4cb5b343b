"""Draws an elite as an animation: `luminary replay DIR --best --render best.gif` calls it, by the configuration.

It reads the elite as JSON and writes the file that it is given:

    luminary elite DIR --best --json | python render.py best.gif

A half cheetah lives in a plane and is made of capsules, so a side view of them shows all there is. It is drawn here rather than by
MuJoCo, whose pictures need OpenGL, which most machines of a cluster do not have.
"""

import json
import sys

import cheetah
import numpy as np
from PIL import Image, ImageDraw

#: Steps between pictures, of 20 steps a second, and steps that are drawn in all: the first fifteen seconds.
EVERY = 1
STEPS = 300

#: Pixels of a picture and of a metre; pictures are drawn larger first, so that edges are smooth.
WIDTH, HEIGHT, METRE = 480, 220, 110
FINER = 3

SKY, GROUND, MARK = (238, 243, 248), (205, 214, 200), (170, 182, 164)
BODY, BACK_LEG, FRONT_LEG = (168, 112, 58), (120, 70, 40), (205, 150, 90)


def main(path):
    elite = json.load(sys.stdin)
    pictures = []
    n_seen = 0

    def draw(model, data):
        nonlocal n_seen
        if n_seen < STEPS and n_seen % EVERY == 0:
            pictures.append(picture(model, data))
        n_seen += 1

    reward, feet = cheetah.gallop(cheetah.make(), elite["solution"], on_step=draw)
    pictures[0].save(path, "GIF", save_all=True, append_images=pictures[1:], duration=50 * EVERY, loop=0)
    print(f"reward {reward:.2f}, back foot on the ground {feet[0]:.0%} of the time, front foot {feet[1]:.0%}")


def picture(model, data):
    """The cheetah from its side, the camera beside its torso."""
    image = Image.new("RGB", (FINER * WIDTH, FINER * HEIGHT), SKY)
    brush = ImageDraw.Draw(image)
    middle = data.geom("torso").xpos[0]
    horizon = HEIGHT - 30

    def place(x, z):
        return FINER * (WIDTH / 2 + METRE * (x - middle)), FINER * (horizon - METRE * z)

    brush.rectangle([0, FINER * horizon, FINER * WIDTH, FINER * HEIGHT], fill=GROUND)
    for metre in range(int(middle) - 3, int(middle) + 4):
        # A mark for each metre shows how fast it runs.
        brush.line([place(metre, 0.0), place(metre - 0.1, -0.25)], fill=MARK, width=FINER * 3)
    for part in range(model.ngeom):
        name = model.geom(part).name
        if name != "floor":
            capsule(brush, place, model.geom(part).size, data.geom(part), colour_of(name))
    return image.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)


def capsule(brush, place, size, geom, colour):
    """A thick line with round ends along the geometry's own axis."""
    radius, half_length = size[0], size[1]
    along = half_length * geom.xmat.reshape(3, 3)[:, 2]
    ends = [place(*(geom.xpos + side * along)[[0, 2]]) for side in (-1, 1)]
    pixels = FINER * METRE * radius
    brush.line(ends, fill=colour, width=int(np.ceil(2 * pixels)))
    for x, y in ends:
        brush.ellipse([x - pixels, y - pixels, x + pixels, y + pixels], fill=colour)


def colour_of(name):
    if name in ("torso", "head"):
        return BODY
    return BACK_LEG if name.startswith("b") else FRONT_LEG


if __name__ == "__main__":
    main(*sys.argv[1:])
