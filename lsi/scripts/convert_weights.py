#!/usr/bin/env python3
"""Converts official weight files to the safetensors files that luminary-lsi loads.

    python3 convert_weights.py stylegan  karras2019stylegan-ffhq-1024x1024.for_g_all.pt  stylegan-ffhq.safetensors
    python3 convert_weights.py stylegan2 stylegan2-ffhq-config-f.pkl                     stylegan2-ffhq.safetensors
    python3 convert_weights.py clip      pytorch_model.bin                               clip-vit-base-patch32.safetensors

Needs nothing but Python: neither PyTorch nor the networks' own code. The weights are yours to obtain, under their owners'
licences.

- stylegan takes a PyTorch state dictionary of the generator, with the names `g_mapping.*` and `g_synthesis.*`.
- stylegan2 takes a pickle of NVIDIA's PyTorch implementations (its `G_ema`), or a state dictionary of that generator. Such
  pickles carry program code. It is not run: only dictionaries, numbers and tensors are read, and whatever else the file
  asks for is refused or left as an empty shell.
- clip takes a state dictionary with the names of Hugging Face's `CLIPModel`. A `model.safetensors` from there needs no
  conversion.
"""

import argparse
import collections
import io
import json
import pickle
import struct
import sys
import zipfile

# What each model consists of; everything else in a file (filters that are constants, position indices) is left out.
WANTED = {
    "stylegan": lambda name: name.startswith(("g_mapping.", "g_synthesis.", "truncation.avg_latent"))
    and not name.endswith(".kernel"),
    "stylegan2": lambda name: name.startswith(("mapping.", "synthesis.")) and not name.endswith("resample_filter"),
    "clip": lambda name: name.startswith(("vision_model.", "text_model.", "visual_projection.", "text_projection."))
    and not name.endswith("position_ids")
    or name == "logit_scale",
}

# A tensor that every file of the kind has.
MARK = {
    "stylegan": "g_synthesis.blocks.4x4.const",
    "stylegan2": "synthesis.b4.const",
    "clip": "vision_model.embeddings.patch_embedding.weight",
}


def main():
    parser = argparse.ArgumentParser(description="Converts official weight files for luminary-lsi.")
    parser.add_argument("model", choices=sorted(WANTED))
    parser.add_argument("source", help="the official file")
    parser.add_argument("target", help="the safetensors file to write")
    arguments = parser.parse_args()
    try:
        n_tensors = convert(arguments.model, arguments.source, arguments.target)
    except (OSError, ConversionError) as error:
        sys.exit(f"{arguments.source}: {error}")
    print(f"{arguments.target}: {n_tensors} tensors")


def convert(model, source, target):
    """Converts a file and returns the number of tensors."""
    with open(source, "rb") as file:
        tensors = state_dict(read_object(file.read()))
    wanted = {name: tensor for name, tensor in tensors.items() if WANTED[model](name)}
    if MARK[model] not in wanted:
        example = next(iter(tensors), "no tensors")
        raise ConversionError(f"expected a {model} model with {MARK[model]}, found {example}")
    write_safetensors(target, wanted)
    return len(wanted)


class ConversionError(Exception):
    """A file that cannot be converted."""


# --- Tensors ---------------------------------------------------------------------------------------------------------

# PyTorch's storage types: the safetensors type and the size of an element.
STORAGE_TYPES = {
    "FloatStorage": ("F32", 4),
    "DoubleStorage": ("F64", 8),
    "HalfStorage": ("F16", 2),
    "BFloat16Storage": ("BF16", 2),
    "LongStorage": ("I64", 8),
    "IntStorage": ("I32", 4),
    "ByteStorage": ("U8", 1),
    "BoolStorage": ("BOOL", 1),
}


class Storage:
    """The numbers behind tensors. They may arrive after the tensors that point to them."""

    def __init__(self, kind, data=None):
        if kind not in STORAGE_TYPES:
            raise ConversionError(f"expected numbers, found a {kind}")
        self.dtype, self.item_size = STORAGE_TYPES[kind]
        self.data = data


class Tensor:
    """A view of a storage."""

    def __init__(self, storage, offset, shape, strides):
        self.storage, self.offset, self.shape, self.strides = storage, offset, list(shape), list(strides)

    def bytes(self):
        """Its elements in row-major order."""
        size = self.storage.item_size
        count = 1
        for length in self.shape:
            count *= length
        data = self.storage.data
        if self.is_contiguous():
            start = self.offset * size
            elements = data[start : start + count * size]
        else:
            positions = [self.offset]
            for length, stride in zip(self.shape, self.strides):
                positions = [position + index * stride for position in positions for index in range(length)]
            elements = b"".join(data[position * size : (position + 1) * size] for position in positions)
        if len(elements) != count * size:
            raise ConversionError("cut short: the file ends before its last tensor")
        return elements

    def is_contiguous(self):
        expected = 1
        for length, stride in zip(reversed(self.shape), reversed(self.strides)):
            if length != 1 and stride != expected:
                return False
            expected *= length
        return True


def write_safetensors(path, tensors):
    header, chunks, start = {}, [], 0
    for name, tensor in sorted(tensors.items()):
        data = tensor.bytes()
        header[name] = {"dtype": tensor.storage.dtype, "shape": tensor.shape, "data_offsets": [start, start + len(data)]}
        chunks.append(data)
        start += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for chunk in chunks:
            file.write(chunk)


# --- Files -----------------------------------------------------------------------------------------------------------

LEGACY_MAGIC = 0x1950A86A20F9469CFC6C


def read_object(data):
    """The object in a PyTorch file of any age, or in a plain pickle that holds tensors."""
    try:
        if data[:2] == b"PK":
            return read_zip(data)
        stream = io.BytesIO(data)
        first = Reader(stream).load()
        if first == LEGACY_MAGIC:
            return read_legacy(stream)
        return first
    except (pickle.UnpicklingError, EOFError, struct.error, zipfile.BadZipFile, KeyError, IndexError, ValueError) as error:
        raise ConversionError(f"not a PyTorch file, or a damaged one: {error}") from error


def read_zip(data):
    """The format of PyTorch 1.6 and later: an archive with a pickle and a file for each storage."""
    archive = zipfile.ZipFile(io.BytesIO(data))
    main_name = next((name for name in archive.namelist() if name.endswith("/data.pkl")), None)
    if main_name is None:
        raise ConversionError("expected a PyTorch file, found an archive without data.pkl")
    folder = main_name[: -len("data.pkl")]

    def storage(identifier):
        _, kind, key, _, _ = identifier
        return Storage(kind.name, archive.read(f"{folder}data/{key}"))

    return Reader(io.BytesIO(archive.read(main_name)), storage).load()


def read_legacy(stream):
    """The format before that: pickles one after the other, then the storages. The magic number has been read."""
    Reader(stream).load()  # version of the protocol
    Reader(stream).load()  # properties of the system
    storages = {}

    def storage(identifier):
        _, kind, key = identifier[:3]
        return storages.setdefault(key, Storage(kind.name))

    result = Reader(stream, storage).load()
    for key in Reader(stream).load():
        (count,) = struct.unpack("<q", stream.read(8))
        storages[key].data = stream.read(count * storages[key].item_size)
    return result


class Name:
    """A type that the file mentions."""

    def __init__(self, name):
        self.name = name


class Shell:
    """An object of a class whose code is not run: nothing but its state."""

    def __new__(cls, *_):
        shell = super().__new__(cls)
        shell.state = {}
        return shell

    def __init__(self, *_):
        pass

    def __setstate__(self, state):
        self.state = state if isinstance(state, dict) else {"state": state}

    # Such objects may be dictionaries with a dot.
    def __setitem__(self, key, value):
        self.state[key] = value


def rebuild_tensor(storage, offset, shape, strides, *_):
    return Tensor(storage, offset, shape, strides)


def rebuild_parameter(tensor, *_):
    return tensor


def load_storage(data):
    stream = io.BytesIO(data)
    if Reader(stream).load() != LEGACY_MAGIC:
        raise ConversionError("expected a storage in PyTorch's old format")
    return read_legacy(stream)


def rebuild_module(meta):
    """NVIDIA's way to pickle a module together with its source code, of which only the state is taken."""
    module = Shell()
    module.__setstate__(meta["state"])
    return module


FUNCTIONS = {
    ("collections", "OrderedDict"): collections.OrderedDict,
    ("torch._utils", "_rebuild_tensor_v2"): rebuild_tensor,
    ("torch._utils", "_rebuild_parameter"): rebuild_parameter,
    ("torch.storage", "_load_from_bytes"): load_storage,
    ("torch_utils.persistence", "_reconstruct_persistent_obj"): rebuild_module,
}


class Reader(pickle.Unpickler):
    """Reads pickles without running what they name."""

    def __init__(self, stream, storage=None):
        super().__init__(stream)
        self.storage = storage

    def find_class(self, module, name):
        if (module, name) in FUNCTIONS:
            return FUNCTIONS[module, name]
        if module == "torch" and name.endswith("Storage"):
            return Name(name)
        # Anything else becomes an empty shell, which takes arguments and state and does nothing with them.
        return Shell

    def persistent_load(self, identifier):
        if self.storage is None or identifier[0] != "storage":
            raise pickle.UnpicklingError("a reference to something outside of the file")
        return self.storage(identifier)


def state_dict(found):
    """The tensors of an object by name: of a state dictionary, or of a module's shell."""
    if isinstance(found, dict):
        for key in ("G_ema", "g_ema", "state_dict"):
            if key in found:
                return state_dict(found[key])
        return {name: tensor for name, tensor in found.items() if isinstance(tensor, Tensor)}
    if isinstance(found, Shell):
        return dict(module_tensors(found, ""))
    raise ConversionError(f"expected a state dictionary or a module, found {type(found).__name__}")


def module_tensors(module, prefix):
    for group in ("_parameters", "_buffers"):
        for name, tensor in module.state.get(group, {}).items():
            if isinstance(tensor, Tensor):
                yield prefix + name, tensor
    for name, child in module.state.get("_modules", {}).items():
        if isinstance(child, Shell):
            yield from module_tensors(child, f"{prefix}{name}.")


if __name__ == "__main__":
    main()
