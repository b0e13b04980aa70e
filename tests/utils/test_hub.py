"""Checkpoints by their address, kept in a folder, and models of a folder or a repository: as PyTorch does it."""
import email.message
import hashlib
import importlib
import io
import json
import urllib.error
import urllib.request
import urllib.response
import warnings
import zipfile

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


@pytest.fixture(autouse=True)
def the_folder_of_other_tests(monkeypatch):
    """`set_dir` is for the process: other tests find the folder as it was."""
    hub = importlib.import_module("jtensor.hub")
    monkeypatch.setattr(hub, "_folder", hub._folder)


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


def test_its_older_name():
    assert jtensor.utils.model_zoo.load_url is jtensor.hub.load_state_dict_from_url


class _GitHub(urllib.request.HTTPSHandler):
    """As much of GitHub as is asked: one repository, whose default branch is ``main``."""

    def __init__(self, files, refs=("main", "v1", "a/b"), ambiguous=()):
        super().__init__()
        self.asked, self.files, self.refs, self.ambiguous = [], files, refs, ambiguous

    def https_open(self, request):
        url = request.full_url
        self.asked.append(url.removeprefix("https://"))
        if "/tree/main" in url:
            return self._answer(url, b"", 200 if "main" in self.refs else 404)
        if "api.github.com" in url:
            page = [{"name": ref, "commit": {"sha": "abc" * 3}} for ref in self.refs if "branches" in url and url.endswith("page=1")]
            return self._answer(url, json.dumps(page).encode())
        if url.rpartition("zipball/")[2] in self.ambiguous:
            return self._answer(url, b"", 300)
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as file:
            for name, text in self.files.items():
                file.writestr(name, text)
        return self._answer(url, packed.getvalue())

    @staticmethod
    def _answer(url, body, code=200):
        if code != 200:
            raise urllib.error.HTTPError(url, code, "no", {}, None)
        made = urllib.response.addinfourl(io.BytesIO(body), email.message.Message(), url, code)
        made.msg = "OK"
        return made


@pytest.fixture
def github():
    """Gives a function that puts another GitHub in the place of the real one."""
    before = urllib.request._opener

    def put(*args, **options):
        made = _GitHub(*args, **options)
        urllib.request.install_opener(urllib.request.build_opener(made))
        return made
    yield put
    urllib.request.install_opener(before)


FILES = {"owner-name-abc/": "", "owner-name-abc/hubconf.py": HUBCONF.format(wanted="numpy") + "_hidden = net\n",
         "owner-name-abc/neighbour.py": "width = 3"}


def _repositories(name, folder, github, monkeypatch, capsys):
    """What is answered, asked, said and left behind by a day with the hub."""
    hub, seen = _hub(name, folder), []
    answers = []
    monkeypatch.setattr("builtins.input", lambda text: seen.append(text) or answers.pop())

    def note(function):
        try:
            seen.append(function())
        except Exception as error:
            seen.append((type(error).__name__, str(error)))
        said = capsys.readouterr()
        seen.append((said.out.replace(str(folder), "*"), said.err.replace(str(folder), "*")))
        seen.append(sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if "__pycache__" not in path.parts
                           and (path.name != "trusted_list" or path.stat().st_size)))
    served = github(FILES)
    for answers[:] in (["x"], ["n"], ["Y"]):
        note(lambda: hub.load("owner/name", "net", 5))
    note(lambda: hub.load("owner/name", "net"))
    note(lambda: hub.load("owner/name", "net", force_reload=True, verbose=False))
    note(lambda: hub.list("owner/name:v1", verbose=False))
    note(lambda: hub.help("owner/name:a/b", "net", skip_validation=True))
    note(lambda: hub.load("owner/name:nothing", "net"))
    note(lambda: hub.load("pytorch/name:abcabc", "net", 1))
    note(lambda: hub.load("owner/name:v1", 3))
    answers[:] = ["yes"]
    note(lambda: hub.load("owner/name", "net", trust_repo=False))
    seen.append(list(served.asked))
    github(FILES, refs=("master",), ambiguous=("master",))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        note(lambda: hub.load("other/name", "net", trust_repo=True))
    seen.append([str(one.message) for one in said])
    for path in ("../out.py", "/out.py"):
        github({"owner-name-abc/hubconf.py": "", path: ""})
        note(lambda: hub.load("pytorch/bad", "net", skip_validation=True)) if name == "jtensor" else None
        assert not (folder.parent / "out.py").exists()
    return seen


def test_repositories_as_pytorch_has_them(tmp_path, github, monkeypatch, capsys):
    pytest.importorskip("torch")
    days = []
    for name in ("jtensor", "torch"):
        folder = tmp_path / name / "hub"
        folder.parent.mkdir()
        folder.mkdir()
        days.append(_repositories(name, folder, github, monkeypatch, capsys))
    ours, theirs = days
    assert ours[:len(theirs)] == theirs
    assert [one[1] for one in ours[len(theirs)::3]] == ["Archive entry contains directory traversal: ../out.py",
                                                       "Archive entry has absolute path: /out.py"]


def test_a_failed_download_leaves_what_was_there(tmp_path, github):
    hub = _hub("jtensor", tmp_path)
    github(FILES)
    assert hub.load("pytorch/name", "net") == 6
    github({"owner-name-abc/hubconf.py": "", "../out": ""})
    with pytest.raises(ValueError, match="traversal"):
        hub.load("pytorch/name", "net", force_reload=True)
    assert hub.load("pytorch/name", "net") == 6 and sorted(p.name for p in tmp_path.iterdir()) == ["pytorch_name_main"]
