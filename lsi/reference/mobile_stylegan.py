"""MobileStyleGAN, written out plainly as a reference for the parity tests.

The inverse wavelet transform works on columns first and rows second, as in the published network; the Rust code does both
at once.
"""

import math

import torch
import torch.nn.functional as F


def random_weights(latent_dim, channels, generator):
    """Weights of a generator with the channels of the first convolution and of each block."""

    def normal(*shape):
        return torch.randn(*shape, generator=generator)

    weights = {"mapping.w_avg": 0.3 * normal(latent_dim), "synthesis.input": normal(1, channels[0], 4, 4)}
    for index in range(3):
        weights[f"mapping.fc{index}.weight"] = normal(latent_dim, latent_dim) / math.sqrt(latent_dim)
        weights[f"mapping.fc{index}.bias"] = 0.1 * normal(latent_dim)

    def add_style(name, inputs):
        weights[f"{name}.affine.weight"] = normal(inputs, latent_dim) / math.sqrt(latent_dim)
        weights[f"{name}.affine.bias"] = 1 + 0.1 * normal(inputs)

    def add_rest(name, outputs, inputs, size):
        add_style(name, inputs)
        weights[f"{name}.bias"] = 0.3 * normal(outputs)
        weights[f"{name}.noise_const"] = normal(size, size)
        weights[f"{name}.noise_strength"] = 0.5 * normal(1)[0]

    add_rest("synthesis.conv1", channels[0], channels[0], 4)
    weights["synthesis.conv1.weight"] = normal(channels[0], channels[0], 3, 3) / math.sqrt(9 * channels[0])
    before = channels[0]
    for index, outputs in enumerate(channels[1:]):
        block = f"synthesis.layers.{index}"
        add_style(f"{block}.up", before)
        for name, inputs in (("conv1", before // 4), ("conv2", outputs)):
            add_rest(f"{block}.{name}", outputs, inputs, 8 << index)
            weights[f"{block}.{name}.depthwise"] = normal(inputs, 1, 3, 3) / 3
            weights[f"{block}.{name}.pointwise"] = normal(outputs, inputs, 1, 1) / math.sqrt(inputs)
        before = outputs
    add_style("synthesis.to_img", before)
    weights["synthesis.to_img.weight"] = normal(12, before, 1, 1) / math.sqrt(before)
    weights["synthesis.to_img.bias"] = 0.3 * normal(12)
    return weights


def mapping(weights, z):
    x = z * torch.rsqrt(torch.mean(z**2, dim=1, keepdim=True) + 1e-8)
    index = 0
    while f"mapping.fc{index}.weight" in weights:
        x = F.linear(x, weights[f"mapping.fc{index}.weight"], weights[f"mapping.fc{index}.bias"])
        x = F.leaky_relu(x, 0.2) * math.sqrt(2)
        index += 1
    return x


def synthesis(weights, latents):
    """Images from latents (n, layers, dim), with the stored noise."""
    x = weights["synthesis.input"].repeat(latents.shape[0], 1, 1, 1)
    x = styled_convolution(weights, "synthesis.conv1", x, latents[:, 0])
    index = 0
    while f"synthesis.layers.{index}.conv1.bias" in weights:
        block = f"synthesis.layers.{index}"
        x = inverse_wavelet(modulate(weights, f"{block}.up", x, latents[:, 3 * index + 1]))
        x = styled_convolution(weights, f"{block}.conv1", x, latents[:, 3 * index + 1])
        x = styled_convolution(weights, f"{block}.conv2", x, latents[:, 3 * index + 2])
        index += 1
    x = modulate(weights, "synthesis.to_img", x, latents[:, 3 * index])
    x = F.conv2d(x, weights["synthesis.to_img.weight"], weights["synthesis.to_img.bias"])
    return inverse_wavelet(x)


def modulate(weights, name, x, w):
    style = F.linear(w, weights[f"{name}.affine.weight"], weights[f"{name}.affine.bias"])
    return x * style.view(*style.shape, 1, 1)


def styled_convolution(weights, name, x, w):
    x = modulate(weights, name, x, w)
    if f"{name}.weight" in weights:
        x = F.conv2d(x, weights[f"{name}.weight"], padding=1)
    else:
        x = F.conv2d(x, weights[f"{name}.depthwise"], padding=1, groups=x.shape[1])
        x = F.conv2d(x, weights[f"{name}.pointwise"])
    x = x + weights[f"{name}.noise_const"] * weights[f"{name}.noise_strength"]
    return F.leaky_relu(x + weights[f"{name}.bias"].view(1, -1, 1, 1), 0.2)


def inverse_wavelet(x):
    n, channels, height, width = x.shape
    low = x[:, : channels // 4]
    high = x[:, channels // 4 :].view(n, channels // 4, 3, height, width)
    left = synthesis_filter(low, high[:, :, 0], dim=2)
    right = synthesis_filter(high[:, :, 1], high[:, :, 2], dim=2)
    return synthesis_filter(left, right, dim=3)


def synthesis_filter(low, high, dim):
    """Pairs of neighbours from their means and differences."""
    pair = torch.stack([low + high, low - high], dim=dim + 1) / math.sqrt(2)
    shape = list(low.shape)
    shape[dim] *= 2
    return pair.reshape(shape)
