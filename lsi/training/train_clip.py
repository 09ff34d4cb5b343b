"""Trains the small image-text model: CLIP's architecture on MNIST with captions.

    python train_clip.py --data data --epochs 5 clip.safetensors

Images are cut out of the digits as LSI (StyleGAN2) cuts them, so that the model has seen what it will be asked about. Needs
torch, numpy and safetensors.
"""

import argparse
import math
import time

import digits
import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import nn

IMAGE_SIZE = 24
PATCH = 4
IMAGE_WIDTH, IMAGE_LAYERS, IMAGE_HEADS = 48, 3, 4
TEXT_WIDTH, TEXT_LAYERS, TEXT_HEADS = 48, 2, 4
N_POSITIONS = 16
EMBEDDING = 48

COLOUR_MEAN = torch.tensor([0.48145466, 0.4578275, 0.40821073]).view(1, 3, 1, 1)
COLOUR_DEVIATION = torch.tensor([0.26862954, 0.26130258, 0.27577711]).view(1, 3, 1, 1)


class Attention(nn.Module):
    def __init__(self, width, n_heads):
        super().__init__()
        self.n_heads = n_heads
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            self.add_module(name, nn.Linear(width, width))

    def forward(self, x, causal):
        def split(layer):
            return layer(x).view(*x.shape[:2], self.n_heads, -1).transpose(1, 2)

        mixed = F.scaled_dot_product_attention(
            split(self.q_proj), split(self.k_proj), split(self.v_proj), is_causal=causal
        )
        return self.out_proj(mixed.transpose(1, 2).flatten(2))


class Mlp(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        hidden = self.fc1(x)
        return self.fc2(hidden * torch.sigmoid(1.702 * hidden))


class Layer(nn.Module):
    def __init__(self, width, n_heads):
        super().__init__()
        self.layer_norm1, self.layer_norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.self_attn, self.mlp = Attention(width, n_heads), Mlp(width)

    def forward(self, x, causal):
        x = x + self.self_attn(self.layer_norm1(x), causal)
        return x + self.mlp(self.layer_norm2(x))


class Encoder(nn.Module):
    def __init__(self, width, n_layers, n_heads):
        super().__init__()
        self.layers = nn.ModuleList(Layer(width, n_heads) for _ in range(n_layers))

    def forward(self, x, causal):
        for layer in self.layers:
            x = layer(x, causal)
        return x


class Vision(nn.Module):
    def __init__(self):
        super().__init__()
        n_patches = (IMAGE_SIZE // PATCH) ** 2
        self.embeddings = nn.Module()
        self.embeddings.class_embedding = nn.Parameter(0.02 * torch.randn(IMAGE_WIDTH))
        self.embeddings.patch_embedding = nn.Conv2d(3, IMAGE_WIDTH, PATCH, stride=PATCH, bias=False)
        self.embeddings.position_embedding = nn.Embedding(n_patches + 1, IMAGE_WIDTH)
        nn.init.normal_(self.embeddings.position_embedding.weight, std=0.02)
        self.pre_layrnorm, self.post_layernorm = nn.LayerNorm(IMAGE_WIDTH), nn.LayerNorm(IMAGE_WIDTH)
        self.encoder = Encoder(IMAGE_WIDTH, IMAGE_LAYERS, IMAGE_HEADS)

    def forward(self, images):
        patches = self.embeddings.patch_embedding(images).flatten(2).transpose(1, 2)
        start = self.embeddings.class_embedding.expand(len(images), 1, -1)
        x = torch.cat([start, patches], 1) + self.embeddings.position_embedding.weight
        return self.post_layernorm(self.encoder(self.pre_layrnorm(x), causal=False)[:, 0])


class Text(nn.Module):
    def __init__(self, n_tokens):
        super().__init__()
        self.embeddings = nn.Module()
        self.embeddings.token_embedding = nn.Embedding(n_tokens, TEXT_WIDTH)
        self.embeddings.position_embedding = nn.Embedding(N_POSITIONS, TEXT_WIDTH)
        nn.init.normal_(self.embeddings.token_embedding.weight, std=0.02)
        nn.init.normal_(self.embeddings.position_embedding.weight, std=0.02)
        self.encoder = Encoder(TEXT_WIDTH, TEXT_LAYERS, TEXT_HEADS)
        self.final_layer_norm = nn.LayerNorm(TEXT_WIDTH)

    def forward(self, rows, ends):
        x = self.embeddings.token_embedding(rows) + self.embeddings.position_embedding.weight
        x = self.final_layer_norm(self.encoder(x, causal=True))
        return x[torch.arange(len(x)), ends]


class SmallClip(nn.Module):
    def __init__(self, n_tokens):
        super().__init__()
        self.vision_model, self.text_model = Vision(), Text(n_tokens)
        self.visual_projection = nn.Linear(IMAGE_WIDTH, EMBEDDING, bias=False)
        self.text_projection = nn.Linear(TEXT_WIDTH, EMBEDDING, bias=False)
        self.logit_scale = nn.Parameter(torch.tensor(math.log(1 / 0.07)))

    def embed_images(self, images):
        return F.normalize(self.visual_projection(self.vision_model(images)), dim=-1)

    def embed_texts(self, rows, ends):
        return F.normalize(self.text_projection(self.text_model(rows, ends)), dim=-1)


def encode(texts):
    """Rows of the embedding and the place of the end for each text."""
    rows = torch.zeros(len(texts), N_POSITIONS, dtype=torch.long)
    ends = torch.zeros(len(texts), dtype=torch.long)
    row_of = {token: row for row, token in enumerate(digits.VOCABULARY)}
    for row, text in enumerate(texts):
        words = ["<start>", *text.split(), "<end>"]
        tokens = [row_of[token] for word in words for token in digits.TOKENS[word]]
        rows[row, : len(tokens)] = torch.tensor(tokens)
        ends[row] = len(tokens) - 1
    return rows, ends


def cut(images, rng):
    """A window of every image at the size of the model, colours normalised; a little noise stands for what generators do."""
    size = int(math.sqrt(rng.random()) * (digits.SIZE - IMAGE_SIZE) + IMAGE_SIZE)
    top, left = rng.integers(digits.SIZE - size + 1, size=2)
    window = F.adaptive_avg_pool2d(images[:, None, top : top + size, left : left + size], IMAGE_SIZE)
    window = window + 0.05 * rng.random() * torch.randn_like(window)
    return (window.expand(-1, 3, -1, -1) - COLOUR_MEAN) / COLOUR_DEVIATION


def contrast(model, image_vectors, texts):
    """The loss of CLIP, with images that have the same caption sharing it."""
    unique = sorted(set(texts))
    place = {text: index for index, text in enumerate(unique)}
    targets = torch.tensor([place[text] for text in texts])
    text_vectors = model.embed_texts(*encode(unique))
    logits = model.logit_scale.exp() * image_vectors @ text_vectors.T
    share = F.one_hot(targets, len(unique)).float()
    share = (share / share.sum(0)).T
    by_text = -(share * F.log_softmax(logits.T, dim=1)).sum(1).mean()
    return 0.5 * (F.cross_entropy(logits, targets) + by_text)


def train(data, n_epochs, batch_size, seed):
    images, labels = digits.load(data, "train")
    weight, lean = digits.attributes(images, labels)
    images = torch.from_numpy(images)
    rng = np.random.default_rng(seed)
    model = SmallClip(len(digits.VOCABULARY))
    n_steps = int(n_epochs * len(images) / batch_size)
    optimiser = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 2e-3, total_steps=n_steps)
    start = time.monotonic()
    for step in range(n_steps):
        batch = rng.integers(len(images), size=batch_size)
        texts = [digits.caption(rng, labels[i], weight[i], lean[i]) for i in batch]
        loss = contrast(model, model.embed_images(cut(images[batch], rng)), texts)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        with torch.no_grad():
            model.logit_scale.clamp_(max=math.log(100.0))
        if step % 100 == 99:
            print(f"step {step + 1} of {n_steps}, loss {loss.item():.3f}, {time.monotonic() - start:.0f} s", flush=True)
    return model


@torch.no_grad()
def examine(model, data):
    """How often the right word wins on the digits that were not trained on."""
    images, labels = digits.load(data, "t10k")
    weight, lean = digits.attributes(images, labels)
    whole = F.adaptive_avg_pool2d(torch.from_numpy(images)[:, None], IMAGE_SIZE).expand(-1, 3, -1, -1)
    vectors = model.embed_images((whole - COLOUR_MEAN) / COLOUR_DEVIATION)

    def share(prompts, truth, chosen):
        found = (vectors @ model.embed_texts(*encode(prompts)).T).argmax(1).numpy()
        return (found == truth)[chosen].mean()

    everything = np.ones(len(labels), dtype=bool)
    words = [f"{'an' if word == 'eight' else 'a'} {word}" for word in digits.WORDS]
    print(f"digit {share(words, labels, everything):.3f}")
    print(f"thin or bold {share(['a thin digit', 'a bold digit'], weight // 2, weight != 1):.3f}")
    leans = ["a slanted left digit", "an upright digit", "a slanted right digit"]
    print(f"lean {share(leans, lean, everything):.3f}")


def main():
    parser = argparse.ArgumentParser(description="Trains the small image-text model on MNIST.")
    parser.add_argument("--data", default="data", help="folder of the digits, fetched if empty")
    parser.add_argument("--epochs", type=float, default=5)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("output")
    arguments = parser.parse_args()
    # One thread: sums in another order give other weights.
    torch.set_num_threads(1)
    torch.manual_seed(arguments.seed)
    model = train(arguments.data, arguments.epochs, arguments.batch_size, arguments.seed)
    examine(model, arguments.data)
    store(model, arguments.output)


def store(model, path):
    weights = {name: values.detach().contiguous() for name, values in model.state_dict().items()}
    weights["text_model.vocabulary"] = torch.tensor(digits.VOCABULARY, dtype=torch.int32)
    save_file(weights, path, {"vision_heads": str(IMAGE_HEADS), "text_heads": str(TEXT_HEADS)})


def load(path):
    """A model that `store` has written."""
    model, weights = SmallClip(len(digits.VOCABULARY)), load_file(path)
    del weights["text_model.vocabulary"]
    model.load_state_dict(weights)
    return model


if __name__ == "__main__":
    main()
