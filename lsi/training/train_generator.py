"""Trains the small generator: StyleGAN2 at 32 by 32 pixels on MNIST.

    python train_generator.py --data data --steps 4000 generator.safetensors

The generator is StyleGAN2's (mapping, modulated convolutions, stored noise, skip connections). It learns as the decoder of a
variational autoencoder, which shows digits within minutes on one core; in the last part of the training a discriminator
judges samples and reconstructions too (non-saturating loss, R1 penalty every 16 steps) and makes strokes sharp. What is
stored is a moving average of the weights. Needs torch, numpy and safetensors.
"""

import argparse
import copy
import math
import time

import digits
import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import nn

LATENT_DIM = 64
CHANNELS = {4: 64, 8: 48, 16: 32, 32: 16}
N_MAPPING_LAYERS = 4
# Style inputs: an RGB layer shares the first one of the next block.
N_STYLES = 2 * len(CHANNELS)
# The share of the steps after which the discriminator takes part, and the weight of its verdict in the generator's loss.
ADVERSARY_FROM, ADVERSARY_WEIGHT = 0.7, 10.0


class Equalised(nn.Module):
    """A fully connected layer whose weights are scaled when used, so that all learn at the same speed."""

    def __init__(self, inputs, outputs, bias=0.0, multiplier=1.0):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs) / multiplier)
        self.bias = nn.Parameter(torch.full((outputs,), bias / multiplier))
        self.multiplier = multiplier

    def forward(self, x):
        scale = self.multiplier / math.sqrt(self.weight.shape[1])
        return F.linear(x, self.weight * scale, self.bias * self.multiplier)


class Mapping(nn.Module):
    def __init__(self):
        super().__init__()
        for index in range(N_MAPPING_LAYERS):
            self.add_module(f"fc{index}", Equalised(LATENT_DIM, LATENT_DIM, multiplier=0.01))
        self.register_buffer("w_avg", torch.zeros(LATENT_DIM))

    def forward(self, z):
        x = z * torch.rsqrt(z.square().mean(1, keepdim=True) + 1e-8)
        for index in range(N_MAPPING_LAYERS):
            x = F.leaky_relu(getattr(self, f"fc{index}")(x), 0.2) * math.sqrt(2)
        return x


def low_pass(x, padding):
    line = torch.tensor([1.0, 3.0, 3.0, 1.0])
    kernel = (torch.outer(line, line) / 16).expand(x.shape[1], 1, 4, 4)
    return F.conv2d(F.pad(x, padding), kernel, groups=x.shape[1])


class Layer(nn.Module):
    """A modulated convolution with noise, bias and activation."""

    def __init__(self, inputs, outputs, size, up):
        super().__init__()
        self.up = up
        self.affine = Equalised(LATENT_DIM, inputs, bias=1.0)
        self.weight = nn.Parameter(torch.randn(outputs, inputs, 3, 3))
        self.bias = nn.Parameter(torch.zeros(outputs))
        self.register_buffer("noise_const", torch.randn(size, size))
        self.noise_strength = nn.Parameter(torch.zeros([]))

    def forward(self, x, w, noise):
        style = self.affine(w)
        norm = torch.rsqrt(style.square() @ self.weight.square().sum((2, 3)).T + 1e-8)
        x = x * style[:, :, None, None]
        if self.up:
            x = low_pass(F.conv_transpose2d(x, self.weight.transpose(0, 1), stride=2), (1, 1, 1, 1))
        else:
            x = F.conv2d(x, self.weight, padding=1)
        x = x * norm[:, :, None, None]
        values = torch.randn(x.shape[0], 1, *x.shape[2:]) if noise == "random" else self.noise_const
        x = x + values * self.noise_strength + self.bias[None, :, None, None]
        return F.leaky_relu(x, 0.2) * math.sqrt(2)


class ToRgb(nn.Module):
    """Digits are grey: one channel, which `store` repeats for the three colours."""

    def __init__(self, inputs):
        super().__init__()
        self.affine = Equalised(LATENT_DIM, inputs, bias=1.0)
        self.weight = nn.Parameter(torch.randn(1, inputs, 1, 1))
        self.bias = nn.Parameter(torch.zeros(1))

    def forward(self, x, w):
        style = self.affine(w) / math.sqrt(x.shape[1])
        return F.conv2d(x * style[:, :, None, None], self.weight) + self.bias[None, :, None, None]


class Block(nn.Module):
    def __init__(self, inputs, outputs, size):
        super().__init__()
        if size == 4:
            self.const = nn.Parameter(torch.randn(outputs, 4, 4))
        else:
            self.conv0 = Layer(inputs, outputs, size, up=True)
        self.conv1 = Layer(outputs, outputs, size, up=False)
        self.torgb = ToRgb(outputs)


class Synthesis(nn.Module):
    def __init__(self):
        super().__init__()
        inputs = CHANNELS[4]
        for size, outputs in CHANNELS.items():
            self.add_module(f"b{size}", Block(inputs, outputs, size))
            inputs = outputs

    def forward(self, w, noise="random"):
        """Images (n, 1, 32, 32) of a w for each style input (n, N_STYLES, LATENT_DIM)."""
        image = None
        for index, size in enumerate(CHANNELS):
            block = getattr(self, f"b{size}")
            if size == 4:
                x = block.const.expand(w.shape[0], -1, -1, -1)
            else:
                x = block.conv0(x, w[:, 2 * index - 1], noise)
            x = block.conv1(x, w[:, 2 * index], noise)
            rgb = block.torgb(x, w[:, 2 * index + 1])
            if image is not None:
                wide = torch.zeros(*image.shape[:2], size, size)
                wide[:, :, ::2, ::2] = image
                rgb = rgb + low_pass(wide, (2, 1, 2, 1))
            image = rgb
        return image


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.mapping, self.synthesis = Mapping(), Synthesis()

    def forward(self, z, noise="random"):
        return self.synthesis(self.mapping(z)[:, None].expand(-1, N_STYLES, -1), noise)


def down(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 4, stride=2, padding=1), nn.LeakyReLU(0.2))


class Encoder(nn.Module):
    """Mean and logarithm of the variance of the latents of an image."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(down(1, 24), down(24, 48), down(48, 96), nn.Flatten())
        self.output = nn.Linear(96 * 16, 2 * LATENT_DIM)

    def forward(self, images):
        return self.output(self.body(images)).chunk(2, 1)


class Discriminator(nn.Module):
    """Down to 4 by 4 pixels, the deviation over groups of four images as another channel, and two linear layers."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(down(1, 24), down(24, 48), down(48, 96))
        self.hidden = nn.Linear(97 * 16, 64)
        self.output = nn.Linear(64, 1)

    def forward(self, images):
        x = self.body(images)
        deviation = x.view(-1, 4, *x.shape[1:]).var(1, unbiased=False).add(1e-8).sqrt().mean((1, 2, 3))
        deviation = deviation.repeat_interleave(4).view(-1, 1, 1, 1).expand(-1, 1, 4, 4)
        hidden = self.hidden(torch.cat([x, deviation], 1).flatten(1))
        return self.output(F.leaky_relu(hidden, 0.2))[:, 0]


def train(images, n_steps, batch_size, report):
    """The moving average of a generator after `n_steps` steps."""
    generator, encoder, discriminator = Generator(), Encoder(), Discriminator()
    average = copy.deepcopy(generator).requires_grad_(False)
    # Weights are stored at the scale of one, those of the mapping at a hundred, and learn accordingly.
    groups = [(generator.mapping, 0.2), (generator.synthesis, 1e-2), (encoder, 2e-3)]
    maker = torch.optim.Adam([{"params": m.parameters(), "lr": lr} for m, lr in groups], betas=(0.8, 0.99))
    judge = torch.optim.Adam(discriminator.parameters(), lr=1e-3, betas=(0.0, 0.99))
    for step in range(n_steps):
        real = images[torch.randint(len(images), (batch_size,))]
        mean, log_variance = encoder(real)
        z = mean + (log_variance / 2).exp() * torch.randn_like(mean)
        divergence = 0.5 * (mean.square() + log_variance.exp() - 1 - log_variance).sum(1).mean()
        if step < ADVERSARY_FROM * n_steps:
            made = generator(z)
            loss = (made - real).square().sum((1, 2, 3)).mean() + divergence
        else:
            half = batch_size // 2
            made = generator(torch.cat([z[:half], torch.randn(half, LATENT_DIM)]))
            descend(judge, verdicts(discriminator, real, made.detach(), step))
            loss = (made[:half] - real[:half]).square().sum((1, 2, 3)).mean() + divergence
            loss = loss + ADVERSARY_WEIGHT * F.softplus(-discriminator(made)).mean()
        descend(maker, loss)
        with torch.no_grad():
            for slow, fast in zip(average.parameters(), generator.parameters()):
                slow.lerp_(fast, 1 - 0.5 ** (batch_size / 10_000))
        report(step, loss.item(), average)
    return average


def verdicts(discriminator, real, fake, step):
    """The discriminator's loss, lazily with the R1 penalty."""
    loss = F.softplus(discriminator(fake)).mean() + F.softplus(-discriminator(real)).mean()
    if step % 16 == 0:
        real = real.detach().requires_grad_()
        (gradient,) = torch.autograd.grad(discriminator(real).sum(), real, create_graph=True)
        loss = loss + 16 * 0.5 * gradient.square().sum((1, 2, 3)).mean()
    return loss


def descend(optimiser, loss):
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()


def main():
    parser = argparse.ArgumentParser(description="Trains the small generator on MNIST.")
    parser.add_argument("--data", default="data", help="folder of the digits, fetched if empty")
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("output")
    arguments = parser.parse_args()
    # One thread: sums in another order give other weights.
    torch.set_num_threads(1)
    torch.manual_seed(arguments.seed)
    images, _ = digits.load(arguments.data, "train")
    images = torch.from_numpy(images).unsqueeze(1) * 2 - 1
    start = time.monotonic()

    def report(step, loss, average):
        if step % 100 == 99:
            seconds = time.monotonic() - start
            print(f"step {step + 1} of {arguments.steps}, loss {loss:.2f}, {seconds:.0f} s", flush=True)
        if step % 200 == 199:
            store(average, arguments.output)

    store(train(images, arguments.steps, arguments.batch_size, report), arguments.output)


@torch.no_grad()
def store(generator, path):
    generator.mapping.w_avg.copy_(generator.mapping(torch.randn(10_000, LATENT_DIM)).mean(0))
    weights = {name: values.clone().contiguous() for name, values in generator.state_dict().items()}
    for name in filter(is_colour, weights):
        weights[name] = weights[name].repeat_interleave(3, 0)
    save_file(weights, path)


def is_colour(name):
    return "torgb.weight" in name or "torgb.bias" in name


def load(path):
    """A generator that `store` has written."""
    generator = Generator().requires_grad_(False)
    weights = load_file(path)
    for name in filter(is_colour, weights):
        weights[name] = weights[name][:1]
    generator.load_state_dict(weights)
    return generator


if __name__ == "__main__":
    main()
