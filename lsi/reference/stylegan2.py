"""StyleGAN2 with skip connections, written out plainly as a reference for the parity tests.

Kernels are modulated for each image as in the paper's equations, and images are upsampled by putting zeros between their
pixels and filtering, so the reference shares no shortcut with the Rust code.
"""

import math

import torch
import torch.nn.functional as F


def random_weights(latent_dim, channels, generator):
    """Weights of a generator with one block for each number of channels."""

    def normal(*shape):
        return torch.randn(*shape, generator=generator)

    weights = {"mapping.w_avg": 0.3 * normal(latent_dim), "synthesis.b4.const": normal(channels[0], 4, 4)}
    for index in range(3):
        weights[f"mapping.fc{index}.weight"] = 100 * normal(latent_dim, latent_dim)
        weights[f"mapping.fc{index}.bias"] = 10 * normal(latent_dim)

    def add_style(name, inputs):
        weights[f"{name}.affine.weight"] = normal(inputs, latent_dim)
        weights[f"{name}.affine.bias"] = 1 + 0.1 * normal(inputs)

    def add_convolution(name, outputs, inputs, size):
        add_style(name, inputs)
        weights[f"{name}.weight"] = normal(outputs, inputs, 3, 3)
        weights[f"{name}.bias"] = 0.3 * normal(outputs)
        weights[f"{name}.noise_const"] = normal(size, size)
        weights[f"{name}.noise_strength"] = 0.5 * normal(1)[0]

    inputs = channels[0]
    for index, outputs in enumerate(channels):
        size = 4 << index
        block = f"synthesis.b{size}"
        if index > 0:
            add_convolution(f"{block}.conv0", outputs, inputs, size)
        add_convolution(f"{block}.conv1", outputs, inputs if index == 0 else outputs, size)
        add_style(f"{block}.torgb", outputs)
        weights[f"{block}.torgb.weight"] = normal(3, outputs, 1, 1)
        weights[f"{block}.torgb.bias"] = 0.3 * normal(3)
        inputs = outputs
    return weights


def mapping(weights, z):
    x = z * torch.rsqrt(torch.mean(z**2, dim=1, keepdim=True) + 1e-8)
    index = 0
    while f"mapping.fc{index}.weight" in weights:
        weight = weights[f"mapping.fc{index}.weight"] * (0.01 / math.sqrt(x.shape[1]))
        x = math.sqrt(2) * F.leaky_relu(F.linear(x, weight, 0.01 * weights[f"mapping.fc{index}.bias"]), 0.2)
        index += 1
    return x


def synthesis(weights, latents):
    """Images from latents (n, layers, dim), with the stored noise."""
    x = weights["synthesis.b4.const"].repeat(latents.shape[0], 1, 1, 1)
    image, layer, size = None, 0, 4
    while f"synthesis.b{size}.conv1.weight" in weights:
        block = f"synthesis.b{size}"
        if size > 4:
            x = styled_convolution(weights, f"{block}.conv0", x, latents[:, layer], up=True)
            layer += 1
        x = styled_convolution(weights, f"{block}.conv1", x, latents[:, layer], up=False)
        layer += 1
        if image is not None:
            image = low_pass(F.pad(insert_zeros(image), (2, 1, 2, 1)))
        rgb = to_rgb(weights, f"{block}.torgb", x, latents[:, layer])
        image = rgb if image is None else image + rgb
        size *= 2
    return image


def affine(weights, name, w):
    weight = weights[f"{name}.affine.weight"]
    return F.linear(w, weight / math.sqrt(weight.shape[1]), weights[f"{name}.affine.bias"])


def styled_convolution(weights, name, x, w, up):
    style = affine(weights, name, w)
    images = []
    for row in range(x.shape[0]):
        kernel = weights[f"{name}.weight"] * style[row].view(1, -1, 1, 1)
        kernel = kernel * torch.rsqrt((kernel**2).sum(dim=(1, 2, 3), keepdim=True) + 1e-8)
        image = x[row : row + 1]
        if up:
            image = low_pass(F.pad(F.conv_transpose2d(image, kernel.transpose(0, 1), stride=2), (1, 1, 1, 1)))
        else:
            image = F.conv2d(image, kernel, padding=1)
        images.append(image)
    x = torch.cat(images) + weights[f"{name}.noise_const"] * weights[f"{name}.noise_strength"]
    return F.leaky_relu(x + weights[f"{name}.bias"].view(1, -1, 1, 1), 0.2) * math.sqrt(2)


def to_rgb(weights, name, x, w):
    style = affine(weights, name, w) / math.sqrt(x.shape[1])
    kernels = weights[f"{name}.weight"].view(1, 3, -1) * style.unsqueeze(1)
    return torch.einsum("noc,nchw->nohw", kernels, x) + weights[f"{name}.bias"].view(1, -1, 1, 1)


def insert_zeros(x):
    n, channels, height, width = x.shape
    wide = torch.zeros(n, channels, 2 * height, 2 * width, dtype=x.dtype)
    wide[:, :, ::2, ::2] = x
    return wide


def low_pass(x):
    line = torch.tensor([1.0, 3.0, 3.0, 1.0], dtype=x.dtype)
    kernel = 4 * torch.outer(line, line) / 64
    return F.conv2d(x, kernel.expand(x.shape[1], 1, 4, 4), groups=x.shape[1])
