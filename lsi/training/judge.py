"""What is true of an image, by rules that no search can fool: its strokes, its nearest digits, how clean it is.

Searches find images that networks take for something else. Widths, slants and distances to thousands of real digits have no
such blind spots, so they say what the image-text model should have seen.
"""

import digits
import numpy as np
import torch
import torch.nn.functional as F

N_REFERENCES = 10_000
# Haze in the background, and what is missing of full brightness, that make an image half spoilt.
HALF_HAZE, HALF_DIM = 0.03, 0.2


class Judge:
    """References among digits, and how the strokes of each digit are distributed."""

    def __init__(self, images, labels, rng):
        stretched = torch.from_numpy(images[:N_REFERENCES].copy())
        stretched[1::2] = vary(stretched[1::2], rng)
        self.references, self.classes = features(stretched), torch.from_numpy(labels[:N_REFERENCES])
        self.lengths = self.references.square().sum(1)
        self.order = torch.argsort(self.classes, stable=True)
        self.sizes = torch.bincount(self.classes, minlength=10).tolist()
        some = slice(N_REFERENCES, 2 * N_REFERENCES)
        strokes = np.stack([np.log(digits.thickness(images[some])), digits.slant(images[some])], 1)
        by_digit = [np.quantile(strokes[labels[some] == digit], [0.16, 0.5, 0.84], axis=0) for digit in range(10)]
        self.centre = np.stack([quantiles[1] for quantiles in by_digit])
        self.spread = np.stack([(quantiles[2] - quantiles[0]) / 2 for quantiles in by_digit])
        # How far other digits are: up to the usual distance nothing is wrong.
        others = torch.from_numpy(images[N_REFERENCES : N_REFERENCES + 2000])
        own = torch.from_numpy(labels[N_REFERENCES : N_REFERENCES + 2000])
        distances = self.distances(others)[torch.arange(2000), own]
        usual = [torch.quantile(distances[own == digit], torch.tensor([0.7, 0.99])) for digit in range(10)]
        self.usual, self.unusual = torch.stack(usual, 1)

    def distances(self, images):
        """The distance to the nearest reference of each digit, relative to the image's own length."""
        x = features(images)
        length = x.square().sum(1, keepdim=True).clamp(min=1e-3)
        squares = length + self.lengths - 2 * x @ self.references.T
        nearest = [part.min(1).values for part in squares[:, self.order].split(self.sizes, 1)]
        return (torch.stack(nearest, 1).clamp(min=0) / length).sqrt()

    def likeness(self, images):
        """From 0 to 1 for each digit: whether it is the nearest one, near enough, bright and without haze."""
        distances = self.distances(images)
        shares = F.softmax(-30 * distances, 1)
        far = ((distances - self.usual) / (self.unusual - self.usual)).clamp(min=0)
        strokes = F.max_pool2d((3 * images >= images.amax((1, 2), keepdim=True)).float()[:, None], 3, 1, 1)[:, 0]
        haze = (images.abs() * (1 - strokes)).sum((1, 2)) / (1 - strokes).sum((1, 2)).clamp(min=1)
        dim = (0.9 - images.amax((1, 2))).clamp(min=0)
        spoilt = (haze / HALF_HAZE + dim / HALF_DIM)[:, None] + far
        return shares * 2.0**-spoilt

    def strokes(self, images, labels):
        """Width and slant of images, standardised by the distribution of each one's digit."""
        images, labels = images.numpy(), labels.numpy()
        values = np.stack([np.log(np.maximum(digits.thickness(images), 0.1)), digits.slant(images)], 1)
        return torch.from_numpy((values - self.centre[labels]) / self.spread[labels]).float()


def features(images):
    """Half the resolution, so that a stroke half a pixel aside is near."""
    return F.avg_pool2d(images[:, None], 2).flatten(1)


def vary(images, rng):
    """The same digits with strokes that are thinner or thicker and lean more to either side."""
    n = len(images)
    amount = torch.from_numpy(rng.uniform(-1, 1, (n, 1, 1, 1)).astype(np.float32))
    x = images[:, None]
    thick, thin = F.max_pool2d(x, 3, 1, 1), -F.max_pool2d(-x, 3, 1, 1)
    x = torch.where(amount > 0, x.lerp(thick, amount.abs()), x.lerp(thin, 0.8 * amount.abs()))
    x = x / x.amax((2, 3), keepdim=True).clamp(min=0.1)
    shear = torch.zeros(n, 2, 3)
    shear[:, 0, 0] = shear[:, 1, 1] = 1
    shear[:, 0, 1] = torch.from_numpy(rng.uniform(-0.45, 0.45, n))
    grid = F.affine_grid(shear, x.shape, align_corners=False)
    return F.grid_sample(x, grid, align_corners=False)[:, 0]
