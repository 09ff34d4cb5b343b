"""Times the networks beside PyTorch, one thread each, in turns, and prints a table.

    cargo build --release --manifest-path lsi/Cargo.toml --example network_speed
    python compare_torch.py ../../target/release/examples/network_speed [--faces FOLDER] [--repeats 3]

Needs torch, safetensors and packaging. The small models are the committed ones; StyleGAN and StyleGAN2 at 256 pixels have random
weights; MobileStyleGAN is there if FOLDER holds what `luminary lsi fetch faces` made. PyTorch runs the plain
implementations of `reference/`, which are what its users write.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

CRATE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(CRATE / "reference"))

import clip  # noqa: E402
import mobile_stylegan  # noqa: E402
import stylegan  # noqa: E402
import stylegan2  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="the built example network_speed")
    parser.add_argument("--faces", type=Path, help="folder of the fetched face models")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"shortest of {options.repeats}, one thread, one image; torch {torch.__version__}")
    print(f"{'':<24}{'value':>32}{'value and gradient':>32}")
    print(f"{'network':<24}" + 2 * f"{'torch':>11}{'luminary':>11}{'ratio':>10}")
    with tempfile.TemporaryDirectory() as folder:
        for name, kind, path in networks(options, Path(folder)):
            rows = [one_turn(kind, path, options.program) for _ in range(options.repeats)]
            torch_value, torch_gradient, value, gradient = (min(column) for column in zip(*rows))
            columns = [(torch_value, value), (torch_gradient, gradient)]
            print(f"{name:<24}" + "".join(f"{a:>9.4f} s{b:>9.4f} s{b / a:>9.2f}x" for a, b in columns), flush=True)


def networks(options, folder):
    """Names, kinds and files."""
    models = CRATE / "models"
    yield "small generator", "stylegan2", models / "digits-generator.safetensors"
    yield "small CLIP", "clip", models / "digits-clip.safetensors"
    if options.faces:
        yield "MobileStyleGAN 1024", "mobile_stylegan", options.faces / "mobile-stylegan-ffhq.safetensors"
    for name, module in [("StyleGAN", stylegan), ("StyleGAN2", stylegan2)]:
        weights = module.random_weights(512, [512, 512, 512, 512, 512, 256, 128], torch.Generator().manual_seed(1))
        path = folder / f"{module.__name__}.safetensors"
        save_file({key: values.contiguous() for key, values in weights.items()}, path)
        yield f"{name} 256", module.__name__, path


def one_turn(kind, path, program):
    """Seconds of value and gradient, of PyTorch and of the program."""
    words = subprocess.run([program, kind, path, "1"], check=True, capture_output=True, text=True).stdout.split()
    return *time_torch(kind, path), *map(float, words)


def time_torch(kind, path):
    weights = load_file(path)
    if kind == "clip":
        size = image_size(weights)
        function, shape = lambda images: clip.embed_images(weights, images, n_heads=heads(path)), (1, 3, size, size)
    elif kind == "stylegan":
        noise = [torch.randn(1, 1, 4 << (layer // 2), 4 << (layer // 2)) for layer in range(18)]
        dim = weights["g_mapping.dense0.weight"].shape[1]
        function, shape = lambda latents: stylegan.synthesis(weights, latents, noise, fused_from=128), (1, 18, dim)
    else:
        module = {"stylegan2": stylegan2, "mobile_stylegan": mobile_stylegan}[kind]
        dim = weights["mapping.fc0.weight"].shape[1]
        function, shape = lambda latents: module.synthesis(weights, latents), (1, 64, dim)
    argument = torch.sin(0.7 * torch.arange(torch.Size(shape).numel(), dtype=torch.float32)).view(shape)
    with torch.no_grad():
        value = timed(lambda: function(argument))
    argument.requires_grad_()
    return value, timed(lambda: function(argument).sum().backward())


def image_size(weights):
    patch = weights["vision_model.embeddings.patch_embedding.weight"].shape[-1]
    n_patches = weights["vision_model.embeddings.position_embedding.weight"].shape[0] - 1
    return patch * round(n_patches**0.5)


def heads(path):
    from safetensors import safe_open

    with safe_open(path, "pt") as file:
        return int((file.metadata() or {}).get("vision_heads", 12))


def timed(function):
    function()
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
