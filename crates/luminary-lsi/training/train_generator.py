"""Trains the small generator: StyleGAN2 at 32 by 32 pixels on MNIST.

    python train_generator.py --data data --epochs 40 generator.safetensors

A StyleGAN2 generator (skip connections, modulated convolutions, stored noise) against a small residual discriminator, with
the non-saturating loss, the R1 penalty every 16 steps and a moving average of the weights, which is what is stored. No path
length regularisation. Needs torch, numpy and safetensors.
"""

import argparse
import copy
import math
import time

import digits
import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import nn

LATENT_DIM = 64
CHANNELS = {4: 64, 8: 64, 16: 48, 32: 32}
N_MAPPING_LAYERS = 4


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
    def __init__(self, inputs):
        super().__init__()
        self.affine = Equalised(LATENT_DIM, inputs, bias=1.0)
        self.weight = nn.Parameter(torch.randn(3, inputs, 1, 1))
        self.bias = nn.Parameter(torch.zeros(3))

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
        image = None
        for size in CHANNELS:
            block = getattr(self, f"b{size}")
            x = block.const.expand(w.shape[0], -1, -1, -1) if size == 4 else block.conv0(x, w, noise)
            x = block.conv1(x, w, noise)
            rgb = block.torgb(x, w)
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
        return self.synthesis(self.mapping(z), noise)


class Discriminator(nn.Module):
    """Residual blocks down to 4 by 4 pixels, the deviation over the batch as another channel, and two linear layers."""

    def __init__(self):
        super().__init__()
        widths = [32, 48, 64, 64]
        self.first = nn.Conv2d(1, widths[0], 3, padding=1)
        pairs = list(zip(widths, widths[1:]))
        self.convolutions = nn.ModuleList(nn.Conv2d(a, b, 3, padding=1) for a, b in pairs)
        self.shortcuts = nn.ModuleList(nn.Conv2d(a, b, 1, bias=False) for a, b in pairs)
        self.last = nn.Conv2d(widths[-1] + 1, widths[-1], 3, padding=1)
        self.hidden = nn.Linear(16 * widths[-1], 64)
        self.output = nn.Linear(64, 1)

    def forward(self, images):
        x = F.leaky_relu(self.first(images), 0.2)
        for convolution, shortcut in zip(self.convolutions, self.shortcuts):
            x = F.leaky_relu(convolution(x), 0.2) + shortcut(x)
            x = F.avg_pool2d(x, 2)
        deviation = x.view(-1, min(4, len(x)), *x.shape[1:]).std(1, unbiased=False).mean((1, 2, 3), keepdim=True)
        deviation = deviation.repeat_interleave(len(x) // len(deviation), 0).expand(-1, 1, *x.shape[2:])
        x = F.leaky_relu(self.last(torch.cat([x, deviation], 1)), 0.2)
        return self.output(F.leaky_relu(self.hidden(x.flatten(1)), 0.2))[:, 0]


def train(images, n_steps, batch_size, report):
    """The moving average of a generator after `n_steps` steps."""
    generator, discriminator = Generator(), Discriminator()
    average = copy.deepcopy(generator).requires_grad_(False)
    optimisers = [torch.optim.Adam(m.parameters(), lr=2e-3, betas=(0.0, 0.99)) for m in (generator, discriminator)]
    for step in range(n_steps):
        real = images[torch.randint(len(images), (batch_size,))]
        with torch.no_grad():
            # Digits are grey: one of the three equal colours is enough for the judge.
            fake = generator(torch.randn(batch_size, LATENT_DIM)).mean(1, keepdim=True)
        loss = F.softplus(discriminator(fake)).mean() + F.softplus(-discriminator(real)).mean()
        if step % 16 == 0:
            real.requires_grad_()
            (gradient,) = torch.autograd.grad(discriminator(real).sum(), real, create_graph=True)
            loss = loss + 16 * 0.5 * gradient.square().sum((1, 2, 3)).mean()
        descend(optimisers[1], loss)

        images_made = generator(torch.randn(batch_size, LATENT_DIM))
        grey = images_made.mean(1, keepdim=True)
        loss = F.softplus(-discriminator(grey)).mean() + 10 * (images_made - grey).square().mean()
        descend(optimisers[0], loss)
        with torch.no_grad():
            for slow, fast in zip(average.parameters(), generator.parameters()):
                slow.lerp_(fast, 1 - 0.5 ** (batch_size / 10_000))
        report(step, average)
    with torch.no_grad():
        average.mapping.w_avg.copy_(average.mapping(torch.randn(10_000, LATENT_DIM)).mean(0))
    return average


def descend(optimiser, loss):
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()


def main():
    parser = argparse.ArgumentParser(description="Trains the small generator on MNIST.")
    parser.add_argument("--data", default="data", help="folder of the digits, fetched if empty")
    parser.add_argument("--epochs", type=float, default=40)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("output")
    arguments = parser.parse_args()
    torch.manual_seed(arguments.seed)
    images, _ = digits.load(arguments.data, "train")
    images = torch.from_numpy(images).unsqueeze(1) * 2 - 1
    n_steps = int(arguments.epochs * len(images) / arguments.batch_size)
    start = time.monotonic()

    def report(step, average):
        if step % 500 == 499:
            print(f"step {step + 1} of {n_steps}, {time.monotonic() - start:.0f} s", flush=True)
            store(average, arguments.output)

    store(train(images, n_steps, arguments.batch_size, report), arguments.output)


def store(generator, path):
    weights = {name: values.detach().clone().contiguous() for name, values in generator.state_dict().items()}
    save_file(weights, path)


if __name__ == "__main__":
    main()
