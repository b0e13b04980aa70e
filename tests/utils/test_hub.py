"""Checkpoints by their address, kept in a folder, and models of a folder: as PyTorch does it, but for GitHub."""
import hashlib
import importlib

import pytest

import jtensor


def raised(function):
    """(type, text) of the exception."""
    with pytest.raises(Exception) as error:
        function()
    return error.type.__name__, str(error.value)


HUBCONF = '''dependencies = ["{wanted}"]
from neighbour import width
def net(n=2):
    """A layer."""
    return n * width
'''


@pytest.fixture
def checkpoint(tmp_path):
    path = tmp_path / "net.pth"
    jtensor.save({"w": jtensor.arange(3.)}, path)
    return path, hashlib.sha256(path.read_bytes()).hexdigest()


def _hub(name, folder):
    hub = importlib.import_module(f"{name}.hub")
    hub.set_dir(str(folder))
    return hub


@pytest.mark.parametrize("name", ["jtensor", "torch"])
def test_a_checkpoint_is_fetched_once_and_checked(name, checkpoint, tmp_path, capsys):
    pytest.importorskip(name)
    hub, (path, digest) = _hub(name, tmp_path / name), checkpoint
    assert hub.load_state_dict_from_url(path.as_uri(), progress=False)["w"].tolist() == [0, 1, 2]
    assert capsys.readouterr().out == f'Downloading: "{path.as_uri()}" to {tmp_path}/{name}/checkpoints/net.pth\n'
    named = path.rename(tmp_path / f"net-{digest[:8]}.pth")
    assert hub.load_state_dict_from_url(path.as_uri(), progress=False)["w"].tolist() == [0, 1, 2]         # from the folder
    assert hub.load_state_dict_from_url(named.as_uri(), progress=False, check_hash=True, file_name=named.name)["w"].tolist() == [0, 1, 2]
    wrong = str(tmp_path / "out")
    said = raised(lambda: hub.download_url_to_file(named.as_uri(), wrong, "12", progress=False))
    assert said == ("RuntimeError", f'invalid hash value (expected "12", got "{digest}")')
    assert sorted(p.name for p in tmp_path.iterdir() if p.is_file()) == [named.name]
    hub.download_url_to_file(named.as_uri(), wrong, digest[:10], progress=True)
    assert "100" in capsys.readouterr().err             # as PyTorch says it, or as tqdm does where it is installed


@pytest.mark.parametrize("name", ["jtensor", "torch"])
def test_models_of_a_folder(name, tmp_path):
    pytest.importorskip(name)
    hub = importlib.import_module(f"{name}.hub")
    (tmp_path / "neighbour.py").write_text("width = 3")
    (tmp_path / "hubconf.py").write_text(HUBCONF.format(wanted="numpy"))
    assert hub.load(str(tmp_path), "net", 5, source="local") == 15
    assert raised(lambda: hub.load(str(tmp_path), "other", source="local")) == ("RuntimeError", "Cannot find callable other in hubconf")
    assert raised(lambda: hub.load("a", "b", source="c")) == ("ValueError", 'Unknown source: "c". Allowed values: "github" | "local".')
    (tmp_path / "hubconf.py").write_text(HUBCONF.format(wanted="nowhere_to_be_found"))
    assert raised(lambda: hub.load(str(tmp_path), "net", source="local")) == ("RuntimeError", "Missing dependencies: nowhere_to_be_found")


def test_github_is_refused():
    with pytest.raises(NotImplementedError, match="models of GitHub"):
        jtensor.hub.load("pytorch/vision", "resnet18")
    assert jtensor.utils.model_zoo.load_url is jtensor.hub.load_state_dict_from_url
