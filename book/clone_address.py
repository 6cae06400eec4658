"""The public address of the repository from which this book was cloned."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

#: A remote over HTTPS, or over SSH as the user git, as the services that host repositories have it.
#: The part before the host's @ is left out, because it may hold a password or a token.
HTTPS = re.compile(r"https://(?:[^/]*@)?(?P<host>[\w.-]+(?::\d+)?)/(?P<path>[\w./~-]+)")
SSH = re.compile(r"ssh://git@(?P<host>[\w.-]+)(?::\d+)?/(?P<path>[\w./~-]+)")
SHORT = re.compile(r"git@(?P<host>[\w.-]+):(?P<path>[\w./~-]+)")


def web_address(remote: str) -> str | None:
    """Return the HTTPS address of a remote, or None if it has none, such as a folder on a disk."""
    for form in (HTTPS, SSH, SHORT):
        if match := form.fullmatch(remote):
            path = match["path"].strip("/").removesuffix(".git")
            return f"https://{match['host']}/{path}" if path else None
    return None


def clone_address(folder: Path) -> str | None:
    """Return the HTTPS address of the remote ``origin`` of a clone; None if there is none.

    If `folder` lies in another repository, the remote of that one does not count.
    """
    inside = git(folder, "rev-parse", "--show-prefix")
    remote = git(folder, "config", "--get", "remote.origin.url")
    return web_address(remote) if remote and inside == "" else None


def git(folder: Path, *arguments: str) -> str | None:
    """Return the output of git in a folder, or None if it fails or is not installed."""
    command = ["git", "-C", str(folder), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None
