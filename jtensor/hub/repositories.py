"""Repositories of GitHub for `torch.hub`: which one is meant, whether the user trusts it, and its files in the folder of the hub.

Owns: GitHub's addresses, the list of trusted repositories and the questions about it. May not know: what is done with the files.
The folder and the list are PyTorch's, so that either library finds what the other has fetched.
"""
import json
import os
import shutil
import sys
import tempfile
import warnings
import zipfile
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

TRUSTED_OWNERS = ("facebookresearch", "facebookincubator", "pytorch", "fairinternal")
BRANCHES = "main", "master"                             # what a default branch is called


def folder_of(github, hub, download, *, force_reload, trust_repo, verbose, skip_validation):
    """The folder below ``hub`` with the files of the repository "owner/name[:ref]", which are fetched unless they are there.

    ``download``: a function (url, path). ``trust_repo``: False asks the user on the terminal, "check" does so unless the repository, or
    its owner, is trusted already, anything else trusts it. Raises an ``Exception`` where the user does not trust it, ``ValueError`` for a
    ref that the repository does not have.
    """
    os.makedirs(hub, exist_ok=True)
    owner, name, ref = _parsed(github, hub)
    label = "_".join([owner, name, ref.replace("/", "_")])
    folder = os.path.join(hub, label)
    _ask_for_trust(owner, name, label, hub, trust_repo)
    if not force_reload and os.path.exists(folder):
        if verbose:
            sys.stderr.write(f"Using cache found in {folder}\n")
        return folder
    if not skip_validation:
        _must_have(owner, name, ref)
    _fetch(owner, name, ref, hub, folder, download)
    return folder


def _parsed(github, hub):
    """(owner, name, ref); without a ref the default branch, as GitHub says or, where it cannot be asked, as the folder has it."""
    repository, _, ref = github.partition(":")
    owner, name = repository.split("/")
    if ref:
        return owner, name, ref
    try:
        with urlopen(f"https://github.com/{owner}/{name}/tree/main/"):
            return owner, name, "main"
    except HTTPError as error:
        if error.code != 404:
            raise
        return owner, name, "master"
    except URLError as error:
        for branch in BRANCHES:
            if os.path.exists(os.path.join(hub, f"{owner}_{name}_{branch}")):
                return owner, name, branch
        raise RuntimeError(f"It looks like there is no internet connection and the repo could not be found in the cache ({hub})") from error


def _ask_for_trust(owner, name, label, hub, trust_repo):
    path, repository = os.path.join(hub, "trusted_list"), f"{owner}_{name}"
    listed = []
    if os.path.exists(path):
        with open(path) as file:
            listed = file.read().split("\n")
    trusted = repository in listed or owner in TRUSTED_OWNERS or os.path.isdir(os.path.join(hub, label))
    if trust_repo is False or trust_repo == "check" and not trusted:
        answer = input(f"The repository {repository} does not belong to the list of trusted repositories and as such cannot be downloaded. "
                       "Do you trust this repository and wish to add it to the trusted list of repositories (y/N)?").lower()
        if answer in ("n", "no", ""):
            raise Exception("Untrusted repository.")
        if answer not in ("y", "yes"):
            raise ValueError(f"Unrecognized response {answer}.")
        if trusted:
            print("The repository is already trusted.")
    if not trusted:
        with open(path, "a") as file:
            file.write(repository + "\n")


def _must_have(owner, name, ref):
    """ValueError unless the ref is the repository's own: under its name GitHub also serves the commits of forks."""
    headers = {"Accept": "application/vnd.github.v3+json"}
    if token := os.environ.get("GITHUB_TOKEN"):
        headers["Authorization"] = f"token {token}"
    for kind in ("branches", "tags"):
        page = 1
        while found := _asked(f"https://api.github.com/repos/{owner}/{name}/{kind}?per_page=100&page={page}", headers):
            if any(one["name"] == ref or one["commit"]["sha"].startswith(ref) for one in found):
                return
            page += 1
    raise ValueError(f"Cannot find {ref} in https://github.com/{owner}/{name}. If it's a commit from a forked repo, please call hub.load() "
                     "with forked repo directly.")


def _asked(url, headers):
    """What GitHub answers; once more without the user's token where that does not permit it."""
    try:
        with urlopen(Request(url, headers=headers)) as answer:
            return json.load(answer)
    except HTTPError:
        if headers.pop("Authorization", None) is None:
            raise
        return _asked(url, headers)


def _fetch(owner, name, ref, hub, folder, download):
    """Puts the files of a ref into the folder, whole or not at all."""
    archive = os.path.join(hub, ref.replace("/", "_") + ".zip")
    url = f"https://github.com/{owner}/{name}/zipball/"
    with tempfile.TemporaryDirectory(dir=hub, prefix=".fetched-") as beside:
        try:
            sys.stdout.write(f'Downloading: "{url}{ref}" to {archive}\n')
            try:
                download(url + ref, archive)
            except HTTPError as error:
                if error.code != 300:
                    raise
                warnings.warn(f"The ref {ref} is ambiguous. Perhaps it is both a tag and a branch in the repo? Torchhub will now assume "
                              "that it's a branch. You can disambiguate tags and branches by explicitly passing refs/heads/branch_name or "
                              "refs/tags/tag_name as the ref. That might require using skip_validation=True.", stacklevel=5)
                download(f"{url}refs/heads/{ref}", archive)
            with zipfile.ZipFile(archive) as file:
                for member in file.infolist():
                    _must_stay_inside(member.filename)
                file.extractall(beside)
        finally:
            if os.path.exists(archive):
                os.unlink(archive)
        if os.path.exists(folder):
            shutil.rmtree(folder)
        os.rename(os.path.join(beside, os.listdir(beside)[0]), folder)        # GitHub puts all into one folder, named after the commit


def _must_stay_inside(path):
    parts = path.replace("\\", "/").split("/")
    if not parts[0] or parts[0][1:2] == ":":
        raise ValueError(f"Archive entry has absolute path: {path}")
    if ".." in parts:
        raise ValueError(f"Archive entry contains directory traversal: {path}")


__all__ = ["folder_of"]
