#!/usr/bin/env python3
"""Converts MobileStyleGAN from OpenVINO's format to the safetensors file that luminary-lsi loads.

    python3 convert_mobile_stylegan.py random_face/data mobile-stylegan-ffhq.safetensors

The folder is that of the Python package random-face 2021.7.21.1, with MappingNetwork and SynthesisNetwork as .xml and .bin.
Needs nothing but Python. The weights were distilled from NVIDIA's StyleGAN2, whose licence is for non-commercial use.

What does not depend on the latents is folded into the weights: the scale of every style into the layer that makes the style.
The noise of a layer is stored there with its strength in it; it is divided by its own deviation, which is the strength but
for chance.
"""

import array
import math
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from convert_weights import ConversionError, Storage, Tensor, write_safetensors


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder, target = Path(sys.argv[1]), sys.argv[2]
    try:
        print(f"{target}: {convert(folder, target)} tensors")
    except (OSError, ElementTree.ParseError, ConversionError) as error:
        sys.exit(f"{folder}: {error}")


def convert(folder, target):
    """Converts the generator and returns the number of tensors."""
    weights = mapping(Graph(folder / "MappingNetwork")) | synthesis(Graph(folder / "SynthesisNetwork"))
    write_safetensors(target, {name: values.tensor() for name, values in weights.items()})
    return len(weights)


class Values:
    """Numbers and their shape."""

    def __init__(self, numbers, shape):
        self.numbers, self.shape = numbers, shape

    def scaled(self, factor):
        return Values(array.array("f", (factor * x for x in self.numbers)), self.shape)

    def reshaped(self, *shape):
        return Values(self.numbers, list(shape))

    def tensor(self):
        strides = [math.prod(self.shape[index + 1 :]) for index in range(len(self.shape))]
        return Tensor(Storage("FloatStorage", self.numbers.tobytes()), 0, self.shape, strides)


class Graph:
    """A network: nodes by id, with their kinds, names, inputs and constants."""

    def __init__(self, stem):
        root = ElementTree.parse(stem.with_suffix(".xml")).getroot()
        self.data = stem.with_suffix(".bin").read_bytes()
        self.nodes = {layer.get("id"): layer for layer in root.find("layers")}
        self.by_name = {layer.get("name"): identifier for identifier, layer in self.nodes.items()}
        self.inputs, self.users = {}, {}
        for edge in root.find("edges"):
            source, user = edge.get("from-layer"), edge.get("to-layer")
            self.inputs.setdefault(user, []).append(source)
            self.users.setdefault(source, []).append(user)

    def kind(self, identifier):
        return self.nodes[identifier].get("type")

    def user(self, identifier, kind):
        """The node of a kind that an output goes to."""
        found = [user for user in self.users.get(identifier, []) if self.kind(user) == kind]
        if len(found) != 1:
            raise ConversionError(f"expected one {kind} after {self.nodes[identifier].get('name')}, found {len(found)}")
        return found[0]

    def constant_of(self, identifier):
        """The constant that goes into a node."""
        found = [source for source in self.inputs[identifier] if self.kind(source) == "Const"]
        if len(found) != 1:
            raise ConversionError(f"expected one constant of {self.nodes[identifier].get('name')}, found {len(found)}")
        return self.values(found[0])

    def named(self, name):
        if name not in self.by_name:
            raise ConversionError(f"expected a node {name}, found none")
        return self.by_name[name]

    def values(self, identifier):
        data = self.nodes[identifier].find("data")
        start, size = int(data.get("offset")), int(data.get("size"))
        shape = [int(length) for length in data.get("shape").split(",") if length.strip()]
        numbers = array.array("f")
        numbers.frombytes(self.data[start : start + size])
        if data.get("element_type") != "f32" or len(numbers) != math.prod(shape):
            raise ConversionError(f"expected {math.prod(shape)} numbers of 32 bits in {self.nodes[identifier].get('name')}")
        return Values(numbers, shape)


def mapping(graph):
    weights = {}
    products = [identifier for identifier in graph.nodes if graph.kind(identifier) == "MatMul"]
    for index, product in enumerate(sorted(products, key=int)):
        bias = graph.user(product, "Add")
        (reshape,) = (source for source in graph.inputs[bias] if graph.kind(source) == "Reshape")
        (bias,) = (source for source in graph.inputs[reshape] if graph.kind(source) == "Const")
        weights[f"mapping.fc{index}.weight"] = graph.constant_of(product)
        weights[f"mapping.fc{index}.bias"] = graph.values(bias)
    return weights


def synthesis(graph):
    weights = {"synthesis.input": graph.values(graph.named("m.input.input"))}
    scaled = add_style(graph, weights, "m.conv1.conv", "synthesis.conv1")
    convolution = graph.user(graph.user(scaled, "Multiply"), "Convolution")
    weights["synthesis.conv1.weight"] = graph.constant_of(convolution)
    add_noise_and_bias(graph, weights, convolution, "synthesis.conv1")

    n_blocks = 0
    while f"m.layers.{n_blocks}.conv1.bias" in graph.by_name:
        source, block = f"m.layers.{n_blocks}", f"synthesis.layers.{n_blocks}"
        for part in ("weight", "bias"):
            values = graph.values(graph.named(f"{source}.up.modulation.{part}"))
            weights[f"{block}.up.affine.{part}"] = values if part == "weight" else values.reshaped(len(values.numbers))
        for name in ("conv1", "conv2"):
            add_style(graph, weights, f"{source}.{name}.conv", f"{block}.{name}")
            depthwise = graph.named(f"{source}.{name}.conv.weight_dw")
            convolution = graph.user(graph.user(depthwise, "GroupConvolution"), "Convolution")
            values = graph.values(depthwise)
            weights[f"{block}.{name}.depthwise"] = values.reshaped(values.shape[0], 1, 3, 3)
            weights[f"{block}.{name}.pointwise"] = graph.constant_of(convolution)
            add_noise_and_bias(graph, weights, convolution, f"{block}.{name}")
        n_blocks += 1

    last = f"m.layers.{n_blocks - 1}.to_img"
    add_style(graph, weights, f"{last}.conv", "synthesis.to_img")
    weights["synthesis.to_img.weight"] = graph.values(graph.named(f"{last}.conv.weight"))
    weights["synthesis.to_img.bias"] = graph.values(graph.named(f"{last}.bias")).reshaped(12)
    return weights


def add_style(graph, weights, source, target):
    """Adds the layer from w to a style, and returns the node that scales the style."""
    bias = graph.named(f"{source}.modulation.bias")
    scaled = graph.user(graph.user(graph.user(bias, "Add"), "Reshape"), "Multiply")
    (scale,) = graph.constant_of(scaled).numbers
    values = graph.values(bias)
    weights[f"{target}.affine.weight"] = graph.values(graph.named(f"{source}.modulation.weight")).scaled(scale)
    weights[f"{target}.affine.bias"] = values.reshaped(len(values.numbers)).scaled(scale)
    return scaled


def add_noise_and_bias(graph, weights, convolution, target):
    noise_sum = graph.user(convolution, "Add")
    noise = graph.constant_of(noise_sum)
    strength = math.sqrt(sum(x * x for x in noise.numbers) / len(noise.numbers))
    noise = noise.reshaped(*noise.shape[-2:])
    weights[f"{target}.noise_const"] = noise.scaled(1 / strength if strength > 0 else 0.0)
    weights[f"{target}.noise_strength"] = Values(array.array("f", [strength]), [])
    values = graph.constant_of(graph.user(noise_sum, "Add"))
    weights[f"{target}.bias"] = values.reshaped(len(values.numbers))


if __name__ == "__main__":
    main()
