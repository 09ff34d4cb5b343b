"""The face networks, written out plainly as a reference for the parity tests: age and gender, expression, identity.

Images are scaled from -1..1 to 0..1, and the mean colour is taken off. Where a network halves an image with a border, the
border is below and to the right.
"""

import math

import torch
import torch.nn.functional as F

MEAN_COLOUR = torch.tensor([122.782, 117.001, 104.298], dtype=torch.float64) / 255
REDUCTIONS = ("entry_flow.reduction_block_0", "entry_flow.reduction_block_1", "exit_flow.reduction_block")
RESIDUALS = (
    ["conv32_1", "conv32_2", "conv32_3", "conv64_down", "conv64_1", "conv64_2", "conv64_3"]
    + ["conv128_down", "conv128_1", "conv128_2", "conv256_down", "conv256_1", "conv256_2", "conv256_down_out"]
)


def random_weights(generator):
    """Weights of small networks."""
    weights = {}

    def normal(*shape):
        return torch.randn(*shape, generator=generator)

    def add_full(name, outputs, inputs, size):
        weights[f"{name}.weight"] = normal(outputs, inputs, size, size) / math.sqrt(inputs * size**2)
        weights[f"{name}.bias"] = 0.3 * normal(outputs)

    def add_separable(name, outputs, inputs):
        weights[f"{name}.depthwise"] = normal(inputs, 1, 3, 3) / 3
        weights[f"{name}.pointwise"] = normal(outputs, inputs, 1, 1) / math.sqrt(inputs)
        weights[f"{name}.bias"] = 0.3 * normal(outputs)

    def add_linear(name, outputs, inputs, bias=True):
        weights[f"{name}.weight"] = normal(outputs, inputs) / math.sqrt(inputs)
        if bias:
            weights[f"{name}.bias"] = 0.3 * normal(outputs)

    add_full("age_gender.entry_flow.conv_in", 3, 3, 3)
    for name, inputs, outputs in zip(REDUCTIONS, (3, 4, 5), (4, 5, 6)):
        add_separable(f"age_gender.{name}.separable_conv0", outputs, inputs)
        add_separable(f"age_gender.{name}.separable_conv1", outputs, outputs)
        add_full(f"age_gender.{name}.expansion_conv", outputs, inputs, 1)
    for block in range(2):
        for layer in range(3):
            add_separable(f"age_gender.middle_flow.main_block_{block}.separable_conv{layer}", 5, 5)
    add_separable("age_gender.exit_flow.separable_conv", 7, 6)
    add_linear("age_gender.fc.age", 1, 7)
    add_linear("age_gender.fc.gender", 2, 7)

    widths = (4, 5, 6, 7)
    add_full("expression.dense0.conv0", widths[0], 3, 3)
    for block, width in enumerate(widths):
        if block > 0:
            add_separable(f"expression.dense{block}.conv0", width, widths[block - 1])
        for layer in (1, 2, 3):
            add_separable(f"expression.dense{block}.conv{layer}", width, width)
    add_linear("expression.fc", 7, widths[-1])

    add_full("identity.conv32_down", 3, 3, 7)
    inputs = 3
    for name in RESIDUALS:
        outputs = inputs + 1 if name.endswith("_down") else inputs
        add_full(f"identity.{name}.conv1", outputs, inputs, 3)
        add_full(f"identity.{name}.conv2", outputs, outputs, 3)
        inputs = outputs
    add_linear("identity.fc", 5, inputs, bias=False)
    return weights


def centred(images):
    return (images + 1) / 2 - MEAN_COLOUR.view(1, 3, 1, 1)


def full(weights, name, x, stride=1, padding=0):
    return F.conv2d(x, weights[f"{name}.weight"], weights[f"{name}.bias"], stride=stride, padding=padding)


def separable(weights, name, x, stride=1):
    x = F.pad(x, (0, 1, 0, 1) if stride == 2 else (1, 1, 1, 1))
    x = F.conv2d(x, weights[f"{name}.depthwise"], stride=stride, groups=x.shape[1])
    return F.conv2d(x, weights[f"{name}.pointwise"], weights[f"{name}.bias"])


def reduction(weights, name, x, activate):
    y = separable(weights, f"{name}.separable_conv0", F.relu(x) if activate else x)
    y = separable(weights, f"{name}.separable_conv1", F.relu(y))
    y = F.max_pool2d(F.pad(y, (0, 1, 0, 1), value=-math.inf), 3, stride=2)
    return y + full(weights, f"{name}.expansion_conv", x, stride=2)


def age_gender(weights, images):
    x = F.relu(full(weights, "age_gender.entry_flow.conv_in", F.pad(centred(images), (0, 1, 0, 1)), stride=2))
    x = reduction(weights, f"age_gender.{REDUCTIONS[0]}", x, activate=False)
    x = reduction(weights, f"age_gender.{REDUCTIONS[1]}", x, activate=True)
    for block in range(2):
        y = x
        for layer in range(3):
            y = separable(weights, f"age_gender.middle_flow.main_block_{block}.separable_conv{layer}", F.relu(y))
        x = x + y
    x = reduction(weights, f"age_gender.{REDUCTIONS[2]}", x, activate=True)
    features = F.relu(separable(weights, "age_gender.exit_flow.separable_conv", x)).mean((2, 3))
    heads = [F.linear(features, weights[f"age_gender.fc.{head}.weight"], weights[f"age_gender.fc.{head}.bias"]) for head in ("age", "gender")]
    return torch.cat(heads, 1)


def expression(weights, images):
    x = centred(images)
    for block in range(4):
        name = f"expression.dense{block}"
        if block == 0:
            first = F.relu(full(weights, f"{name}.conv0", F.pad(x, (0, 1, 0, 1)), stride=2))
        else:
            first = F.relu(separable(weights, f"{name}.conv0", x, stride=2))
        second = separable(weights, f"{name}.conv1", first)
        third = separable(weights, f"{name}.conv2", F.relu(first + second))
        fourth = separable(weights, f"{name}.conv3", F.relu(first + second + third))
        x = F.relu(first + second + third + fourth)
    return F.linear(x.mean((2, 3)), weights["expression.fc.weight"], weights["expression.fc.bias"])


def identity(weights, images):
    x = F.relu(full(weights, "identity.conv32_down", centred(images), stride=2))
    x = F.max_pool2d(x, 3, stride=2)
    for block in RESIDUALS:
        name = f"identity.{block}"
        if "_down" not in block:
            y = F.relu(full(weights, f"{name}.conv1", x, padding=1))
            x = F.relu(full(weights, f"{name}.conv2", y, padding=1) + x)
            continue
        y = F.relu(full(weights, f"{name}.conv1", x, stride=2))
        y = full(weights, f"{name}.conv2", y, padding=1)
        beside = F.avg_pool2d(x, 2)
        y = F.pad(y, (0, beside.shape[3] - y.shape[3], 0, beside.shape[2] - y.shape[2]))
        beside = F.pad(beside, (0, 0, 0, 0, 0, y.shape[1] - beside.shape[1]))
        x = F.relu(y + beside)
    return F.linear(x.mean((2, 3)), weights["identity.fc.weight"])
