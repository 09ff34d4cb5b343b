"""Whether a collage of digits shows what its prompts say.

    python check_collage.py --data data --digit eight collage.png

Prints how width and slant of strokes go with columns and rows, and how many images are the digit: by a classifier and by the
distance to real digits. Both know only the 10,000 digits of MNIST's second part, from which the models learnt nothing. Width
and slant are the statistics that captions and refine_clip.py were made from, so they tell whether a search fools the model, and
not whether the statistics are right. Needs torch and numpy.
"""

import argparse
import zlib

import digits
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

# In a collage digits are shown at twice their size, with white lines between them.
TILE = 2 * digits.SIZE
GAP = 2


def read_png(path):
    """The pixels of an RGB image with 8 bits for each colour and no interlacing, which is what collages are."""
    data, place, packed = open(path, "rb").read(), 8, b""
    while place < len(data):
        size, kind = int.from_bytes(data[place : place + 4], "big"), data[place + 4 : place + 8]
        chunk = data[place + 8 : place + 8 + size]
        if kind == b"IHDR":
            width, height = int.from_bytes(chunk[:4], "big"), int.from_bytes(chunk[4:8], "big")
            assert chunk[8:] == bytes([8, 2, 0, 0, 0]), "expected 8 bits, RGB, not interlaced"
        elif kind == b"IDAT":
            packed += chunk
        place += size + 12
    lines = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 3 * width + 1)
    above, pixels = np.zeros(3 * width + 3, np.int64), []
    for line in lines:
        above = unfilter(line[0], line[1:].astype(np.int64), above)
        pixels.append(above[3:])
    return np.stack(pixels).reshape(height, width, 3)


def unfilter(kind, line, above):
    """A line of pixels after one of black; `above` begins with a black pixel too."""
    found = np.zeros_like(above)
    for i, value in enumerate(line, 3):
        a, b, c = found[i - 3], above[i], above[i - 3]
        nearest = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
        found[i] = (value + [0, a, b, (a + b) // 2, nearest][kind]) % 256
    return found


def first_tile(pixels, count, axis):
    """Where the first tile of a collage begins, beside the text around: there is most ink in tiles and least between them."""
    ink = (255.0 - pixels.mean(2)).sum(1 - axis)
    pattern = np.tile(np.repeat([1.0, -10.0], [TILE, GAP]), count)[:-GAP]
    return int(np.argmax(np.correlate(ink, pattern, "valid")))


def tiles(pixels, columns, rows):
    """The images with their columns from the left and rows from the bottom; empty places are left out."""
    first_top, first_left = first_tile(pixels, rows, 0), first_tile(pixels, columns, 1)
    images, places = [], []
    for row in range(rows):
        for column in range(columns):
            top, left = first_top + (rows - 1 - row) * (TILE + GAP), first_left + column * (TILE + GAP)
            tile = pixels[top : top + TILE, left : left + TILE].mean(2) / 255
            if tile.min() < 1:
                images.append(tile[::2, ::2])
                places.append((column, row))
    return np.stack(images).astype(np.float32), np.array(places)


class Classifier(nn.Module):
    """LeNet's shape."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 12, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(12, 24, 5), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Dropout(0.3), nn.Linear(24 * 25, 80), nn.ReLU(), nn.Linear(80, 10),
        )

    def forward(self, images):
        return self.body(images[:, None])


def train(images, labels, n_epochs=6, batch_size=64):
    model = Classifier()
    n_steps = n_epochs * len(images) // batch_size
    optimiser = torch.optim.Adam(model.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 3e-3, total_steps=n_steps)
    for _ in range(n_steps):
        chosen = torch.randint(len(images), (batch_size,))
        loss = F.cross_entropy(model(images[chosen]), labels[chosen])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    return model.eval()


def distances(images, references):
    """To the nearest reference, at half the resolution and relative to the image's own length."""
    x, y = (F.avg_pool2d(batch[:, None], 2).flatten(1) for batch in (images, references))
    return torch.cdist(x, y).amin(1) / x.norm(dim=1).clamp(min=1e-3)


def report(name, place, values):
    """The correlation of a statistic with columns or rows, and its mean in each."""
    means = [values[place == index].mean() for index in np.unique(place)]
    print(f"{name}: correlation {np.corrcoef(place, values)[0, 1]:.2f}, means " + " ".join(f"{m:.2f}" for m in means))


def main():
    parser = argparse.ArgumentParser(description="Measures the digits of a collage.")
    parser.add_argument("--data", default="data", help="folder of the digits, fetched if empty")
    parser.add_argument("--digit", default="eight", choices=digits.WORDS)
    parser.add_argument("--columns", type=int, default=12)
    parser.add_argument("--rows", type=int, default=9)
    parser.add_argument("collage")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    images, places = tiles(read_png(arguments.collage), arguments.columns, arguments.rows)
    print(f"{len(images)} images")
    report("width of strokes by column", places[:, 0], digits.thickness(images))
    report("slant by row", places[:, 1], digits.slant(images))

    known, known_labels = map(torch.from_numpy, digits.load(arguments.data, "t10k"))
    others, other_labels = (torch.from_numpy(x[:10_000]) for x in digits.load(arguments.data, "train"))
    digit, images = digits.WORDS.index(arguments.digit), torch.from_numpy(images)
    with torch.enable_grad():
        model = train(known, known_labels)
    with torch.no_grad():
        right = (model(others).argmax(1) == other_labels).float().mean()
        verdicts = F.softmax(model(images), 1)
    print(f"classifier: right about {right:.1%} of other digits")
    is_digit = verdicts.argmax(1) == digit
    print(f"the digit by the classifier: {is_digit.float().mean():.1%}; surely (above 90 %): "
          f"{(verdicts[:, digit] > 0.9).float().mean():.1%}")
    references = known[known_labels == digit]
    usual = torch.quantile(distances(others[other_labels == digit], references), 0.99)
    near = distances(images, references) <= usual
    print(f"as near to the digit as 99 % of real ones: {near.float().mean():.1%}; also by the classifier: "
          f"{(near & is_digit).float().mean():.1%}")
    for row in reversed(range(arguments.rows)):
        marks = {tuple(place): "#" if good else "." for place, good in zip(places, near & is_digit)}
        print("".join(marks.get((column, row), " ") for column in range(arguments.columns)))


if __name__ == "__main__":
    main()
