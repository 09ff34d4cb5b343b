"""Makes the golden files of the parity tests: small random networks with values and gradients from PyTorch in f64.

    python make_golden.py ../tests/golden

Needs torch and safetensors (the files that are committed were made with torch 2.15). Weights are stored in f32, which loses
nothing because they are rounded before use; inputs and results are stored in f64. Gradients are those of the sum of the
results times a smooth cotangent, because random signs cancel and leave nothing but rounding.
"""

import sys
from pathlib import Path

import clip
import face_nets
import mobile_stylegan
import stylegan
import stylegan2
import torch
import torch.nn.functional as F
from safetensors.torch import save_file

LATENT_DIM = 6


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    generator = torch.Generator().manual_seed(20230711)

    weights = stylegan.random_weights(LATENT_DIM, [6, 5, 4], generator)
    noise = [torch.randn(1, 1, 4 << (layer // 2), 4 << (layer // 2), generator=generator).double() for layer in range(6)]
    case = {f"noise{layer}": values for layer, values in enumerate(noise)}
    write_generator(
        folder / "stylegan",
        weights,
        stylegan.mapping,
        lambda weights, latents: stylegan.synthesis(weights, latents, noise, fused_from=16),
        n_layers=6,
        generator=generator,
        extra=case,
        header={"fused_from": "16"},
    )

    weights = stylegan2.random_weights(LATENT_DIM, [6, 5, 4], generator)
    write_generator(folder / "stylegan2", weights, stylegan2.mapping, stylegan2.synthesis, 6, generator)

    weights = mobile_stylegan.random_weights(LATENT_DIM, [8, 8, 4], generator)
    write_generator(folder / "mobile_stylegan", weights, mobile_stylegan.mapping, mobile_stylegan.synthesis, 8, generator)

    write_clip(folder / "clip", generator)
    write_face_nets(folder / "face_nets", torch.Generator().manual_seed(20230712))


def write_generator(stem, weights, mapping, synthesis, n_layers, generator, extra=None, header=None):
    weights = rounded(weights)
    z = torch.randn(2, LATENT_DIM, generator=generator).double().requires_grad_()
    w = mapping(weights, z)
    latents = (w.detach().unsqueeze(1) + 0.5 * torch.randn(2, n_layers, LATENT_DIM, generator=generator)).requires_grad_()
    images = synthesis(weights, latents)
    case = {
        "z": z,
        "w": w,
        "z_gradient": gradient(w, z),
        "latents": latents,
        "images": images,
        "latents_gradient": gradient(images, latents),
    }
    write(stem, weights, case | (extra or {}), header)


# "a", "digit", "eight", start and end: a vocabulary with rows of its own.
TOKENS = [320, 27472, 7910, 49406, 49407]
TEXT = [49406, 320, 27472, 7910, 49407]


def write_clip(stem, generator):
    weights = rounded(clip.random_weights(8, 6, 4, 4, len(TOKENS), 7, 5, generator))
    images = torch.randn(2, 3, 8, 8, generator=generator).double().requires_grad_()
    vectors = clip.embed_images(weights, images, n_heads=2)
    case = {
        "images": images,
        "image_vectors": vectors,
        "images_gradient": gradient(vectors, images),
        "text_vector": clip.embed_text(weights, [TOKENS.index(token) for token in TEXT], n_heads=3),
    }
    weights["text_model.vocabulary"] = torch.tensor(TOKENS, dtype=torch.int32)
    write(stem, weights, case, {"vision_heads": "2", "text_heads": "3"})


def write_face_nets(stem, generator):
    weights = rounded(face_nets.random_weights(generator))
    images = torch.randn(2, 3, 8, 8, generator=generator).double().requires_grad_()
    case = {"images": images}
    # Small images are enough of an input; the networks see them enlarged.
    for name, size in (("age_gender", 32), ("expression", 32), ("identity", 104)):
        enlarged = F.interpolate(images, size=size, mode="bilinear", align_corners=True)
        case[name] = getattr(face_nets, name)(weights, enlarged)
        case[f"{name}_gradient"] = gradient(case[name], images)
    write(stem, weights, case, None)


def gradient(output, argument):
    count = torch.arange(output.numel(), dtype=torch.float64).view(output.shape)
    cotangent = torch.cos(0.1 * count) + 0.5
    return torch.autograd.grad((output * cotangent).sum(), argument, retain_graph=True)[0]


def rounded(weights):
    return {name: values.float().double() for name, values in weights.items()}


def write(stem, weights, case, header):
    stored = {name: values.float() if values.is_floating_point() else values for name, values in weights.items()}
    save_file({name: values.contiguous() for name, values in stored.items()}, f"{stem}.safetensors", header)
    save_file({name: values.detach().contiguous() for name, values in case.items()}, f"{stem}.case.safetensors")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
