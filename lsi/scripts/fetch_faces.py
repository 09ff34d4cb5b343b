#!/usr/bin/env python3
"""Obtains a face generator and networks that look at faces, and converts them for luminary-lsi.

    python3 fetch_faces.py FOLDER

Two packages are downloaded, with pip and with npm, and compared with known hashes. FOLDER gets
mobile-stylegan-ffhq.safetensors and face-nets.safetensors.
"""

import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import convert_face_nets
import convert_mobile_stylegan
from convert_weights import ConversionError

WHEEL = "random_face-2021.7.21.1-py3-none-any.whl"
WHEEL_SHA256 = "e5d10e2be7df63f06123855ec591ca35dcb1d059eba47ddcb175d7d26b4019b5"
PACKAGE = "vladmandic-face-api-1.7.15.tgz"
PACKAGE_SHA256 = "0d77fffeef362ef9c0939cf6c567f3a2e8e177f114fa257a3270cbd2e509b031"

LICENCES = """These files are not part of Luminary, and their owners' licences apply:
- MobileStyleGAN for faces, from the Python package random-face 2021.7.21.1: Apache-2.0 by its licence file, but distilled
  from NVIDIA's StyleGAN2 (FFHQ), whose licence allows non-commercial use only.
- The face networks, from the npm package @vladmandic/face-api 1.7.15: MIT."""


class FetchError(Exception):
    """Something could not be obtained."""


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    try:
        with tempfile.TemporaryDirectory() as work:
            fetch(folder, Path(work))
    except (OSError, FetchError, ConversionError) as error:
        sys.exit(f"the face models could not be fetched: {error}")
    print(LICENCES)


def fetch(folder, work):
    command(work, sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "random-face==2021.7.21.1")
    check(work / WHEEL, WHEEL_SHA256)
    command(work, "npm", "pack", "--silent", "@vladmandic/face-api@1.7.15")
    check(work / PACKAGE, PACKAGE_SHA256)

    with zipfile.ZipFile(work / WHEEL) as wheel:
        wheel.extractall(work)
    with tarfile.open(work / PACKAGE) as package:
        package.extractall(work, [member for member in package if member.name.startswith("package/model/")])
    folder.mkdir(parents=True, exist_ok=True)
    for name, convert, source in (
        ("mobile-stylegan-ffhq.safetensors", convert_mobile_stylegan.convert, work / "random_face/data"),
        ("face-nets.safetensors", convert_face_nets.convert, work / "package/model"),
    ):
        # Whole or not at all: an interrupted conversion leaves no file of this name.
        unfinished = folder / f"{name}.unfinished"
        n_tensors = convert(source, unfinished)
        os.replace(unfinished, folder / name)
        print(f"{folder / name}: {n_tensors} tensors", flush=True)


def command(work, *words):
    try:
        subprocess.run(words, cwd=work, check=True, stdout=subprocess.DEVNULL)
    except FileNotFoundError:
        raise FetchError(f"expected the program {words[0]} to be installed, found none") from None
    except subprocess.CalledProcessError as error:
        raise FetchError(f"`{' '.join(words)}` ended with status {error.returncode}") from None


def check(path, expected):
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != expected:
        raise FetchError(f"expected {path.name} with the SHA-256 hash {expected}, found {found}")


if __name__ == "__main__":
    main()
