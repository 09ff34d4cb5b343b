"""CLIP with a vision transformer, written out plainly as a reference for the parity tests.

Texts are filled up to all positions, as the official model does.
"""

import math

import torch
import torch.nn.functional as F


def random_weights(image_width, text_width, n_patches, patch, n_tokens, n_positions, embedding, generator):
    """Weights of a model with two layers in each encoder."""

    def normal(*shape, scale=1.0):
        return scale * torch.randn(*shape, generator=generator)

    weights = {
        "logit_scale": torch.tensor(math.log(100.0), dtype=torch.float64),
        "vision_model.embeddings.class_embedding": normal(image_width),
        "vision_model.embeddings.patch_embedding.weight": normal(image_width, 3, patch, patch, scale=0.2),
        "vision_model.embeddings.position_embedding.weight": normal(n_patches + 1, image_width, scale=0.3),
        "visual_projection.weight": normal(embedding, image_width, scale=0.3),
        "text_model.embeddings.token_embedding.weight": normal(n_tokens, text_width),
        "text_model.embeddings.position_embedding.weight": normal(n_positions, text_width, scale=0.3),
        "text_projection.weight": normal(embedding, text_width, scale=0.3),
    }

    def add_norm(name, width):
        weights[f"{name}.weight"] = 1 + normal(width, scale=0.2)
        weights[f"{name}.bias"] = normal(width, scale=0.2)

    def add_linear(name, outputs, inputs):
        weights[f"{name}.weight"] = normal(outputs, inputs, scale=1 / math.sqrt(inputs))
        weights[f"{name}.bias"] = normal(outputs, scale=0.2)

    for model, width in (("vision_model", image_width), ("text_model", text_width)):
        for index in range(2):
            layer = f"{model}.encoder.layers.{index}"
            add_norm(f"{layer}.layer_norm1", width)
            add_norm(f"{layer}.layer_norm2", width)
            for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
                add_linear(f"{layer}.self_attn.{name}", width, width)
            add_linear(f"{layer}.mlp.fc1", 2 * width, width)
            add_linear(f"{layer}.mlp.fc2", width, 2 * width)
    add_norm("vision_model.pre_layrnorm", image_width)
    add_norm("vision_model.post_layernorm", image_width)
    add_norm("text_model.final_layer_norm", text_width)
    return weights


def embed_images(weights, images, n_heads):
    x = F.conv2d(
        images,
        weights["vision_model.embeddings.patch_embedding.weight"],
        stride=weights["vision_model.embeddings.patch_embedding.weight"].shape[-1],
    )
    x = x.flatten(2).transpose(1, 2)
    start = weights["vision_model.embeddings.class_embedding"].expand(x.shape[0], 1, -1)
    x = torch.cat([start, x], dim=1) + weights["vision_model.embeddings.position_embedding.weight"]
    x = layer_norm(weights, "vision_model.pre_layrnorm", x)
    x = transformer(weights, "vision_model", x, n_heads, mask=None)
    x = layer_norm(weights, "vision_model.post_layernorm", x[:, 0])
    return F.normalize(x @ weights["visual_projection.weight"].T, dim=-1)


def embed_text(weights, rows, n_heads):
    """The vector of a text whose last token is its end, given as rows of the embedding."""
    n_positions = weights["text_model.embeddings.position_embedding.weight"].shape[0]
    filled = list(rows) + [0] * (n_positions - len(rows))
    x = weights["text_model.embeddings.token_embedding.weight"][filled]
    x = (x + weights["text_model.embeddings.position_embedding.weight"]).unsqueeze(0)
    mask = torch.full((n_positions, n_positions), -math.inf, dtype=x.dtype).triu(1)
    x = transformer(weights, "text_model", x, n_heads, mask)
    x = layer_norm(weights, "text_model.final_layer_norm", x)[:, len(rows) - 1]
    return F.normalize(x @ weights["text_projection.weight"].T, dim=-1)


def transformer(weights, model, x, n_heads, mask):
    index = 0
    while f"{model}.encoder.layers.{index}.layer_norm1.weight" in weights:
        layer = f"{model}.encoder.layers.{index}"
        x = x + attention(weights, f"{layer}.self_attn", layer_norm(weights, f"{layer}.layer_norm1", x), n_heads, mask)
        hidden = linear(weights, f"{layer}.mlp.fc1", layer_norm(weights, f"{layer}.layer_norm2", x))
        x = x + linear(weights, f"{layer}.mlp.fc2", hidden * torch.sigmoid(1.702 * hidden))
        index += 1
    return x


def attention(weights, name, x, n_heads, mask):
    width = x.shape[-1] // n_heads
    query, key, value = (linear(weights, f"{name}.{part}_proj", x) for part in "qkv")
    heads = []
    for head in range(n_heads):
        own = slice(head * width, (head + 1) * width)
        scores = query[..., own] @ key[..., own].transpose(1, 2) / math.sqrt(width)
        scores = scores if mask is None else scores + mask
        heads.append(torch.softmax(scores, dim=-1) @ value[..., own])
    return linear(weights, f"{name}.out_proj", torch.cat(heads, dim=-1))


def linear(weights, name, x):
    return F.linear(x, weights[f"{name}.weight"], weights[f"{name}.bias"])


def layer_norm(weights, name, x):
    return F.layer_norm(x, x.shape[-1:], weights[f"{name}.weight"], weights[f"{name}.bias"], eps=1e-5)
