"""Writes the golden models in the forms that official weights come in, for the test of the converter.

    python make_official.py ../tests/golden

Needs torch and safetensors. NVIDIA's pickles hold modules that carry their source code; here the code is a line that would
stop whoever runs it.
"""

import pickle
import sys
import types
from pathlib import Path

import torch
from safetensors.torch import load_file


def main(folder):
    official = folder / "official"
    official.mkdir(exist_ok=True)

    weights = load_file(folder / "stylegan.safetensors")
    # What is in official files beside the weights, and a tensor that is not stored in row-major order.
    weights["g_synthesis.blocks.8x8.conv0_up.intermediate.kernel"] = torch.ones(1, 1, 3, 3)
    weights["g_mapping.dense0.weight"] = weights["g_mapping.dense0.weight"].T.contiguous().T
    torch.save(weights, official / "stylegan.pt", _use_new_zipfile_serialization=False)

    weights = load_file(folder / "stylegan2.safetensors")
    weights["synthesis.b8.resample_filter"] = torch.ones(4, 4)
    network = module_tree(weights)
    with open(official / "stylegan2.pkl", "wb") as file:
        pickle.dump({"G": None, "D": None, "G_ema": network, "training_set_kwargs": {"xflip": False}}, file)

    weights = load_file(folder / "clip.safetensors")
    weights["vision_model.embeddings.position_ids"] = torch.arange(5).unsqueeze(0)
    torch.save(weights, official / "clip.bin")


def reconstruct(meta):
    raise NotImplementedError("the converter reads such objects in its own way")


# The function must be found under the name that NVIDIA's files give.
persistence = types.ModuleType("torch_utils.persistence")
persistence._reconstruct_persistent_obj = reconstruct
reconstruct.__module__, reconstruct.__qualname__ = persistence.__name__, "_reconstruct_persistent_obj"
sys.modules["torch_utils"] = types.ModuleType("torch_utils")
sys.modules[persistence.__name__] = persistence


class Network(torch.nn.Module):
    """A module that pickles itself as NVIDIA's do."""

    def __reduce__(self):
        meta = {
            "type": "class",
            "version": 6,
            "module_src": "raise SystemExit('code from a pickle was run')",
            "class_name": "Network",
            "state": self.__dict__,
        }
        return reconstruct, (meta,), None


def module_tree(weights):
    """Nested modules whose state dictionary is `weights`."""
    root = Network()
    for name, values in weights.items():
        *path, last = name.split(".")
        module = root
        for part in path:
            if part not in module._modules:
                module.add_module(part, Network())
            module = module._modules[part]
        if last in ("weight", "bias", "const", "noise_strength"):
            module.register_parameter(last, torch.nn.Parameter(values))
        else:
            module.register_buffer(last, values)
    return root


if __name__ == "__main__":
    main(Path(sys.argv[1]))
