#!/usr/bin/env python3
"""Converts the face networks of face-api to the safetensors file that luminary-lsi loads.

    python3 convert_face_nets.py package/model face-nets.safetensors

The folder is that of the npm package @vladmandic/face-api 1.7.15, with a manifest and numbers of 8 bits for each network.
Needs nothing but Python. What follows a convolution of the identity network, a factor and a summand for each channel, is
folded into its weights.
"""

import array
import json
import math
import sys
from pathlib import Path

from convert_weights import ConversionError, Storage, Tensor, write_safetensors

# What the networks are called here and there.
NETWORKS = {"age_gender": "age_gender_model", "expression": "face_expression_model", "identity": "face_recognition_model"}


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder, target = Path(sys.argv[1]), sys.argv[2]
    try:
        print(f"{target}: {convert(folder, target)} tensors")
    except (OSError, ValueError, KeyError, ConversionError) as error:
        sys.exit(f"{folder}: {error!r}")


def convert(folder, target):
    """Converts all networks and returns the number of tensors."""
    tensors = {}
    for name, source in NETWORKS.items():
        values = read_network(folder, source)
        if name == "identity":
            values = folded(values)
        for path, (numbers, shape) in values.items():
            tensors[f"{name}.{renamed(path)}"] = as_pytorch(path, numbers, shape)
    write_safetensors(target, tensors)
    return len(tensors)


def read_network(folder, name):
    """Numbers and shape of each tensor of a network."""
    values = {}
    for group in json.loads((folder / f"{name}-weights_manifest.json").read_text()):
        data = b"".join((folder / path).read_bytes() for path in group["paths"])
        for entry in group["weights"]:
            count, quantization = math.prod(entry["shape"]), entry.get("quantization")
            if entry["dtype"] != "float32" or quantization and quantization["dtype"] != "uint8":
                raise ConversionError(f"expected numbers of 32 bits in {entry['name']}, found {entry['dtype']}")
            size = count * (1 if quantization else 4)
            part, data = data[:size], data[size:]
            if len(part) != size:
                raise ConversionError(f"expected {size} bytes of {entry['name']}, found {len(part)}")
            if quantization:
                scale, least = quantization["scale"], quantization["min"]
                numbers = array.array("f", (byte * scale + least for byte in part))
            else:
                numbers = array.array("f")
                numbers.frombytes(part)
            values[entry["name"]] = (numbers, entry["shape"])
        if data:
            raise ConversionError(f"expected the numbers of {name} to end, found {len(data)} more bytes")
    return values


def folded(values):
    """Convolutions with the factor and the summand that follow them in their own weights."""
    result = {}
    for path, (numbers, shape) in values.items():
        layer, _, part = path.rpartition("/")
        if layer.endswith("/scale"):
            continue
        if not layer.endswith("/conv"):
            result[path] = (numbers, shape)
            continue
        layer = layer.removesuffix("/conv")
        factors, _ = values[f"{layer}/scale/weights"]
        summands, _ = values[f"{layer}/scale/biases"]
        channels = len(factors)
        scaled = array.array("f", (number * factors[index % channels] for index, number in enumerate(numbers)))
        if part == "bias":
            scaled = array.array("f", (number + summand for number, summand in zip(scaled, summands)))
        result[f"{layer}/{part}"] = (scaled, shape)
    return result


def renamed(path):
    *parents, name = path.split("/")
    names = {"filters": "weight", "weights": "weight", "depthwise_filter": "depthwise", "pointwise_filter": "pointwise"}
    name = "fc.weight" if name == "fc" else names.get(name, name)
    return ".".join([*parents, name])


def as_pytorch(path, numbers, shape):
    """The tensor with its dimensions in PyTorch's order: outputs, inputs, height, width."""
    storage = Storage("FloatStorage", numbers.tobytes())
    strides = [math.prod(shape[index + 1 :]) for index in range(len(shape))]
    if path.endswith("depthwise_filter"):
        order = [2, 3, 0, 1]
    else:
        order = {4: [3, 2, 0, 1], 2: [1, 0], 1: [0]}[len(shape)]
    return Tensor(storage, 0, [shape[axis] for axis in order], [strides[axis] for axis in order])


if __name__ == "__main__":
    main()
