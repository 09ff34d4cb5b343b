"""Images that searches reach: walkers in the generator's latent space that try to fool the image-text model.

A walker does what an emitter does: it climbs a random mixture of a prompt's objective and measures, in the space of the
searches (a standardised w for each layer). The model learns from where walkers arrive, so that the next ones find it harder.
"""

import torch
import torch.nn.functional as F
from train_generator import LATENT_DIM, N_STYLES

N_WALKERS = 256
# Moves after which a walker starts again, and those after which it changes its direction.
LIFE, PATIENCE = 40, 10
# How far a walker may go from the mean, in distances of samples.
NEAREST, FARTHEST = 0.6, 1.2


class Walkers:
    def __init__(self, generator):
        self.generator = generator
        w = generator.mapping(torch.randn(10_000, LATENT_DIM))
        self.mean, self.deviation = generator.mapping.w_avg, w.std(0)
        self.typical = ((w - self.mean) / self.deviation).norm(dim=1).mean() * N_STYLES**0.5
        self.q = torch.empty(N_WALKERS, N_STYLES, LATENT_DIM)
        self.mixture, self.reach = torch.empty(N_WALKERS, 3), torch.empty(N_WALKERS)
        self.digit = torch.empty(N_WALKERS, dtype=torch.long)
        self.age = torch.randint(LIFE, (N_WALKERS,))
        self.begin(torch.arange(N_WALKERS))
        self.turn(torch.arange(N_WALKERS))

    def begin(self, chosen):
        """Samples of w, the same for all layers, moved towards the mean."""
        n = len(chosen)
        q = (self.generator.mapping(torch.randn(n, LATENT_DIM)) - self.mean) / self.deviation
        self.q[chosen] = (q * (0.5 + 0.5 * torch.rand(n, 1)))[:, None].expand(-1, N_STYLES, -1)
        self.digit[chosen] = torch.randint(10, (n,))
        self.reach[chosen] = self.typical * (NEAREST + (FARTHEST - NEAREST) * torch.rand(n))

    def turn(self, chosen):
        self.mixture[chosen] = torch.randn(len(chosen), 3)
        self.mixture[chosen, 0] = self.mixture[chosen, 0].abs()

    def walk(self, n, score):
        """Moves `n` walkers and returns the images that they came from, from 0 to 1.

        `score(images, digits)` is the objective and the two measures for prompts about digits.
        """
        chosen = torch.randperm(N_WALKERS)[:n]
        q = self.q[chosen].requires_grad_()
        images = (self.generator.synthesis(q * self.deviation + self.mean, "stored")[:, 0] + 1) / 2
        scores = score(images, self.digit[chosen])
        # One backward pass: directions of the three have to be mixed by their sizes, which are alike.
        (slope,) = torch.autograd.grad((self.mixture[chosen] * scores).sum(), q)
        step = F.normalize(slope.flatten(1), dim=1).view_as(q)
        with torch.no_grad():
            q = q + (0.3 + 1.2 * torch.rand(n, 1, 1)) * step
            length = q.flatten(1).norm(dim=1)
            self.q[chosen] = q * (self.reach[chosen] / length).clamp(max=1)[:, None, None]
        self.age[chosen] += 1
        self.turn(chosen[self.age[chosen] % PATIENCE == 0])
        finished = chosen[self.age[chosen] >= LIFE]
        self.age[finished] = 0
        self.begin(finished)
        return images.detach()
