"""The documentation is true: its examples run, and importing works without the optional packages."""

import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import luminary

ROOT = Path(__file__).resolve().parents[2]
#: All but the native half, and the models that need PyTorch, whose examples run in test_torch.py.
MODULES = [
    module.name
    for module in pkgutil.walk_packages(luminary.__path__, "luminary.")
    if module.name != "luminary._native" and not module.name.startswith("luminary.discount_models._")
]
EXAMPLES = sorted((ROOT / "python" / "examples").glob("*.py"))


@pytest.mark.parametrize("name", ["luminary", *MODULES])
def test_docstring_examples(name):
    if "visualize" in name:
        pytest.importorskip("matplotlib")
    if "data_frame" in name:
        pytest.importorskip("pandas")
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("name", ["luminary", "luminary.archives", "luminary.emitters", "luminary.emitters.opt", "luminary.emitters.operators", "luminary.emitters.rankers", "luminary.schedulers", "luminary.engines", "luminary.loggers", "luminary.gest", "luminary.visualize", "luminary.discount_models"])
def test_everything_public_is_documented(name):
    module = importlib.import_module(name)
    assert module.__doc__
    for item in module.__all__:
        thing = getattr(module, item)
        if isinstance(thing, type):
            assert thing.__doc__, item
            for member, value in vars(thing).items():
                if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                    assert value.__doc__, f"{item}.{member}"
        elif callable(thing):
            assert thing.__doc__, item


@pytest.mark.parametrize("page", ["python.md", "clusters.md", "README.md"])
def test_python_blocks_of_the_pages_run(page, tmp_path, monkeypatch):
    file = ROOT / page if page == "README.md" else ROOT / "docs" / page
    if not file.exists():
        pytest.skip(f"there is no {page}")
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in re.findall(r"```python\n(.*?)```", file.read_text(), flags=re.DOTALL):
        exec(compile(block, page, "exec"), names)  # noqa: S102


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)
def test_example_scripts_run(script):
    done = subprocess.run([sys.executable, str(script), "5"], capture_output=True, text=True, timeout=300, cwd=script.parent)
    assert done.returncode == 0, done.stderr
    assert float(re.search(r"coverage ([\d.]+) %", done.stdout)[1]) > 0


MANAGER = "luminary.discount_models.DiscountModelManager(1, 2, 3, train_epochs=1, train_cutoff_loss=0, train_batch_size=1)"


@pytest.mark.parametrize(
    "modules, packages, call",
    [
        ("pandas", "pandas", "archive.data(return_type='pandas')"),
        ("matplotlib", "matplotlib", "luminary.visualize"),
        ("seaborn", "seaborn", "luminary.visualize.archive_ecdf(archive, legend=False)"),
        ("scipy", "scipy", "luminary.archives.CVTArchive(**CVT, kdtree_query_kwargs={'p': 1})"),
        ("sklearn", "scikit-learn", "luminary.archives.CVTArchive(**CVT, **MANHATTAN)"),
        ("sklearn", "scikit-learn", "luminary.archives.DensityArchive(measure_dim=2, density_method='kde_sklearn')"),
        ("torch", "torch", "luminary.discount_models.MLP([(2, 1)], None)"),
        ("torch", "torch", MANAGER),
        ("torch zuko", "torch zuko", "luminary.archives.DensityArchive(measure_dim=2, density_method='cnf')"),
        ("distributed", "distributed", "luminary.engines._dask.DaskEngine(None)"),
        ("ray", "ray", "luminary.engines._ray.RayEngine()"),
        ("gest_api", "gest-api", "import luminary.gest"),
        ("wandb", "wandb", "luminary.loggers.WandbLogger()"),
        ("mlflow", "mlflow", "luminary.loggers.MlflowLogger()"),
        ("cma", "cma", "luminary.emitters.opt.PyCMAEvolutionStrategy(1.0, 2, 4).reset([0, 0])"),
    ],
)
def test_importing_without_optional_packages_says_what_is_missing_when_needed(modules, packages, call):
    program = f"""
import sys
sys.modules.update(dict.fromkeys("{modules}".split()))
import luminary, luminary.emitters, luminary.engines._dask, luminary.engines._ray, luminary.schedulers, luminary.discount_models, luminary.typing
from luminary.archives import *
archive = luminary.archives.GridArchive(solution_dim=1, dims=[2], ranges=[(0, 1)])
archive.add([[1]], [1], [[0]])
CVT = dict(solution_dim=1, centroids=[[0.0], [1.0]], ranges=[(0, 1)])
MANHATTAN = dict(nearest_neighbors="sklearn_nn", sklearn_nn_kwargs=dict(metric="manhattan"))
try:
    {call}
except ImportError as error:
    assert str(error).endswith(" not installed: pip install {packages}"), error
else:
    raise SystemExit("no error")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stderr


def test_importing_the_package_imports_no_optional_package():
    program = """
import sys
import luminary.archives, luminary.emitters, luminary.schedulers, luminary.typing
found = {"pandas", "matplotlib", "torch", "array_api_compat", "sklearn", "scipy", "distributed", "ray", "gest_api", "wandb", "mlflow", "tensorboard"} & set(sys.modules)
assert not found, found
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stderr
