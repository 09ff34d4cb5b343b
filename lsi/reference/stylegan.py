"""StyleGAN, written out plainly as a reference for the parity tests.

Tensors have the names that luminary-lsi loads. `fused_from` is the size from which upsampling is fused into the
convolution: 128 in the official network.
"""

import math

import torch
import torch.nn.functional as F


def random_weights(latent_dim, channels, generator):
    """Weights of a generator with one block for each number of channels."""

    def normal(*shape):
        return torch.randn(*shape, generator=generator)

    weights = {}
    for index in range(3):
        # Stored a hundred times as large as used, like everything with a learning rate of a hundredth.
        weights[f"g_mapping.dense{index}.weight"] = 100 * normal(latent_dim, latent_dim)
        weights[f"g_mapping.dense{index}.bias"] = 10 * normal(latent_dim)
    inputs = channels[0]
    for index, outputs in enumerate(channels):
        size = 4 << index
        block = f"g_synthesis.blocks.{size}x{size}"
        if index == 0:
            weights[f"{block}.const"] = normal(1, outputs, 4, 4)
            weights[f"{block}.bias"] = normal(outputs)
            convolution = f"{block}.conv"
        else:
            weights[f"{block}.conv0_up.weight"] = normal(outputs, inputs, 3, 3)
            weights[f"{block}.conv0_up.bias"] = 0.3 * normal(outputs)
            convolution = f"{block}.conv1"
        weights[f"{convolution}.weight"] = normal(outputs, outputs, 3, 3)
        weights[f"{convolution}.bias"] = 0.3 * normal(outputs)
        for layer in ("epi1", "epi2"):
            weights[f"{block}.{layer}.top_epi.noise.weight"] = 0.5 * normal(outputs)
            weights[f"{block}.{layer}.style_mod.lin.weight"] = normal(2 * outputs, latent_dim)
            weights[f"{block}.{layer}.style_mod.lin.bias"] = 0.3 * normal(2 * outputs)
        inputs = outputs
    weights["g_synthesis.torgb.weight"] = normal(3, inputs, 1, 1)
    weights["g_synthesis.torgb.bias"] = 0.3 * normal(3)
    return weights


def mapping(weights, z):
    x = z / torch.sqrt(torch.mean(z**2, dim=1, keepdim=True) + 1e-8)
    index = 0
    while f"g_mapping.dense{index}.weight" in weights:
        weight = weights[f"g_mapping.dense{index}.weight"]
        scaled = weight * (math.sqrt(2) * 0.01 / math.sqrt(weight.shape[1]))
        x = F.leaky_relu(F.linear(x, scaled, weights[f"g_mapping.dense{index}.bias"] * 0.01), 0.2)
        index += 1
    return x


def synthesis(weights, latents, noise, fused_from):
    """Images from latents (n, layers, dim); noise holds a map for each layer."""
    x, index = None, 0
    while f"g_synthesis.blocks.{4 << index}x{4 << index}.epi1.top_epi.noise.weight" in weights:
        size = 4 << index
        block = f"g_synthesis.blocks.{size}x{size}"
        if index == 0:
            x = weights[f"{block}.const"] + weights[f"{block}.bias"].view(1, -1, 1, 1)
            x = x.repeat(latents.shape[0], 1, 1, 1)
            convolution = f"{block}.conv"
        else:
            x = upsampling_convolution(weights, f"{block}.conv0_up", x, fused=size >= fused_from)
            convolution = f"{block}.conv1"
        x = epilogue(weights, f"{block}.epi1", x, latents[:, 2 * index], noise[2 * index])
        x = F.conv2d(x, equalised(weights, convolution, math.sqrt(2)), weights[f"{convolution}.bias"], padding=1)
        x = epilogue(weights, f"{block}.epi2", x, latents[:, 2 * index + 1], noise[2 * index + 1])
        index += 1
    return F.conv2d(x, equalised(weights, "g_synthesis.torgb", 1.0), weights["g_synthesis.torgb.bias"])


def equalised(weights, name, gain):
    weight = weights[f"{name}.weight"]
    return weight * (gain / math.sqrt(weight[0].numel()))


def upsampling_convolution(weights, name, x, fused):
    kernel = equalised(weights, name, math.sqrt(2))
    if fused:
        wide = F.pad(kernel.transpose(0, 1), (1, 1, 1, 1))
        wide = wide[..., 1:, 1:] + wide[..., :-1, 1:] + wide[..., 1:, :-1] + wide[..., :-1, :-1]
        x = F.conv_transpose2d(x, wide, stride=2, padding=1)
    else:
        x = x.repeat_interleave(2, dim=2).repeat_interleave(2, dim=3)
        x = F.conv2d(x, kernel, padding=1)
    channels = x.shape[1]
    line = torch.tensor([1.0, 2.0, 1.0], dtype=x.dtype)
    blur = torch.outer(line, line) / 16
    x = F.conv2d(x, blur.expand(channels, 1, 3, 3), padding=1, groups=channels)
    return x + weights[f"{name}.bias"].view(1, -1, 1, 1)


def epilogue(weights, name, x, w, noise):
    x = x + weights[f"{name}.top_epi.noise.weight"].view(1, -1, 1, 1) * noise
    x = F.instance_norm(F.leaky_relu(x, 0.2), eps=1e-5)
    weight = weights[f"{name}.style_mod.lin.weight"]
    style = F.linear(w, weight / math.sqrt(weight.shape[1]), weights[f"{name}.style_mod.lin.bias"])
    style = style.view(-1, 2, x.shape[1], 1, 1)
    return x * (style[:, 0] + 1) + style[:, 1]
