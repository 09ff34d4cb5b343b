"""Teaches the small image-text model what its angles should mean, on images that searches find.

    python refine_clip.py --data data --generator generator.safetensors --clip clip.safetensors refined.safetensors

After train_clip.py the right caption is the nearest one, but a search can move angles by changes that nobody sees. Here the
model goes on learning captions, and two things more: the angle to "a photo of an eight" is small for clean eights alone, and
the difference of the angles to "a thin eight" and "a bold eight" grows in proportion to the width of strokes; likewise for all
digits and for slants. The images are real digits, some with varied strokes, spoilt ones, and what walkers find that climb the
model's own angles through the generator; `judge.py` says what is true of each. Needs torch, numpy and safetensors.
"""

import argparse
import math
import time

import digits
import numpy as np
import torch
import torch.nn.functional as F
import train_clip
import train_generator
from judge import Judge, vary
from train_clip import contrast, cut, encode
from walkers import Walkers

# Images of each kind in a batch: real digits, spoilt ones, where walkers are now and where they have been.
N_REAL, N_SPOILT, N_WALKED, N_RECALLED = 32, 8, 16, 24
# How many images of walkers are remembered.
MEMORY = 5000
# The angle to a prompt that an image does not show, and how much smaller it is for one that it does.
ANGLE_APART, ANGLE_NEARER = 1.35, 0.85
# What a standard deviation of width or slant adds to a measure, and after how many it is enough.
MEASURE_SLOPE, MEASURE_REACH = 0.25, 3.2
# Weights of both in the loss.
LIKENESS_WEIGHT, MEASURE_WEIGHT = 20.0, 30.0


def angles(a, b):
    """Angles between all unit vectors of two sets, as the domain computes them."""
    distances = (2 - 2 * a @ b.T).clamp(min=1e-6).sqrt()
    return 2 * torch.asin(distances / 2)


class Prompts:
    """Vectors of what searches ask for: each digit, and each digit thin, bold, slanted left and slanted right."""

    KINDS = ("", "thin ", "bold ", "slanted left ", "slanted right ")

    def __init__(self, model, rng):
        opening = ["a photo of ", "a picture of ", "an image of ", ""][rng.integers(4)]
        nouns = [kind + word for kind in self.KINDS for word in digits.WORDS]
        texts = [f"{opening}{'an' if noun.startswith('eight') else 'a'} {noun}" for noun in nouns]
        self.vectors = model.embed_texts(*encode(texts))

    def compare(self, images):
        """Angles to each digit (n, 10), and the measures with the prompts of each digit (n, 10, 2)."""
        to_prompts = angles(images, self.vectors).view(len(images), len(self.KINDS), 10)
        plain, thin, bold, left, right = to_prompts.unbind(1)
        return plain, torch.stack([thin - bold, left - right], 2)


class Lessons:
    """Batches of images with what is true of them."""

    def __init__(self, data, generator, rng):
        images, labels = digits.load(data, "train")
        self.judge, self.rng = Judge(images, labels, rng), rng
        self.images, self.labels = torch.from_numpy(images), torch.from_numpy(labels)
        self.walkers = Walkers(generator)
        self.memory, self.n_remembered = torch.empty(MEMORY, digits.SIZE, digits.SIZE), 0

    def batch(self, model):
        """Images, how much each is like each digit, its digit, and its standardised width and slant."""
        real, labels = self.draw(N_REAL)
        real[::2] = vary(real[::2], self.rng)
        spoilt = spoil(self.draw(N_SPOILT)[0], self.draw(N_SPOILT)[0], self.rng)
        walked = self.walk(model)
        recalled = self.memory[torch.randint(min(self.n_remembered, MEMORY), (N_RECALLED,))]
        others = torch.cat([spoilt, walked, recalled])
        likeness = torch.cat([F.one_hot(labels, 10).float(), self.judge.likeness(others)])
        images, labels = torch.cat([real, others]), likeness.argmax(1)
        return images, likeness, labels, self.judge.strokes(images, labels)

    def draw(self, n):
        chosen = torch.from_numpy(self.rng.integers(len(self.images), size=n))
        return self.images[chosen], self.labels[chosen]

    def walk(self, model):
        with torch.no_grad():
            prompts = Prompts(model, self.rng)

        def score(images, wanted):
            plain, measures = prompts.compare(model.embed_images(cut(images, self.rng)))
            rows = torch.arange(len(images))
            return torch.cat([-plain[rows, wanted, None], measures[rows, wanted]], 1)

        found = self.walkers.walk(N_WALKED, score)
        places = (self.n_remembered + torch.arange(N_WALKED)) % MEMORY
        self.memory[places] = found
        self.n_remembered += N_WALKED
        return found


def spoil(images, others, rng):
    """Digits behind haze, dim ones, and blends of two."""
    def uniform(high):
        return torch.from_numpy(rng.uniform(0, high, (len(images), 1, 1)).astype(np.float32))

    coarse = torch.from_numpy(rng.normal(size=(len(images), 1, 4, 4)).astype(np.float32))
    haze = F.interpolate(coarse, digits.SIZE, mode="bicubic")[:, 0] * uniform(0.2)
    blend = images.lerp(others, uniform(1.0) * torch.from_numpy(rng.integers(2, size=(len(images), 1, 1))))
    return blend * (1 - uniform(0.8) * uniform(1.0)) + haze


def refine(model, lessons, n_steps, rng):
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 1e-3, total_steps=n_steps, pct_start=0.1)
    start = time.process_time()
    for step in range(n_steps):
        images, likeness, labels, strokes = lessons.batch(model)
        vectors = model.embed_images(cut(images, rng))
        # Captions of the images that show a digit. Thirds of a normal distribution end 0.43 deviations from its centre.
        shown = likeness.amax(1) > 0.5
        thirds = (1 + (strokes > 0.43).long() - (strokes < -0.43).long())[shown].tolist()
        texts = [digits.caption(rng, digit, *third) for digit, third in zip(labels[shown].tolist(), thirds)]
        plain, measures = Prompts(model, rng).compare(vectors)
        wanted = MEASURE_SLOPE * strokes.clamp(-MEASURE_REACH, MEASURE_REACH)
        terms = [
            contrast(model, vectors[shown], texts),
            LIKENESS_WEIGHT * (plain - ANGLE_APART + ANGLE_NEARER * likeness).square().mean(),
            MEASURE_WEIGHT * (measures[torch.arange(len(labels)), labels] - wanted).square().mean(),
            # Searches may ask about another digit than the one that an image shows.
            0.3 * MEASURE_WEIGHT * (measures - wanted[:, None]).square().mean(),
        ]
        optimiser.zero_grad()
        sum(terms).backward()
        optimiser.step()
        schedule.step()
        with torch.no_grad():
            model.logit_scale.clamp_(max=math.log(100.0))
        if step % 50 == 49:
            parts = " ".join(f"{term.item():.3f}" for term in terms)
            print(f"step {step + 1} of {n_steps}, loss {parts}, {time.process_time() - start:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description="Teaches the small image-text model on what searches find.")
    parser.add_argument("--data", default="data", help="folder of the digits, fetched if empty")
    parser.add_argument("--generator", default="generator.safetensors", help="what train_generator.py made")
    parser.add_argument("--clip", default="clip.safetensors", help="what train_clip.py made")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("output")
    arguments = parser.parse_args()
    # One thread: sums in another order give other weights.
    torch.set_num_threads(1)
    torch.manual_seed(arguments.seed)
    rng = np.random.default_rng(arguments.seed)
    model = train_clip.load(arguments.clip)
    lessons = Lessons(arguments.data, train_generator.load(arguments.generator), rng)
    refine(model, lessons, arguments.steps, rng)
    train_clip.examine(model, arguments.data)
    train_clip.store(model, arguments.output)


if __name__ == "__main__":
    main()
