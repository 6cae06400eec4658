"""Progress in a place that the reader chooses: Google Drive, a file, or a download.

Colab forgets the files of its machine. It asks for the permission to open a Drive, so nothing here
runs unless the reader calls it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from gpukernels.checks import check_text
from gpukernels.errors import InvalidArgument

from . import logbook

DRIVE, DOWNLOAD = "drive", "download"
#: Where Colab mounts a Drive.
MOUNT = Path("/content/drive")
#: The file, below the folder of the reader on the Drive.
FILE = Path("MyDrive", "gpukernels", "exercises.json")
COLAB = "google.colab"
OFFER = (
    'Colab loses this with its machine: exercises(keep="drive") keeps it on your Google Drive, '
    'exercises(keep="download") saves a file, which exercises(keep="FILE") reads again'
)


def is_lost() -> bool:
    """Return whether progress is kept, and on a machine of Colab alone."""
    file = logbook.place()
    return COLAB in sys.modules and file is not None and MOUNT not in file.parents


def keep(where: str) -> None:
    """Keep progress at a place of the reader's choice; :func:`gpukernels.exercises` documents it.

    Raises
    ------
    InvalidArgument
        If the place needs Colab and this is not Colab, cannot be written, or there is nothing yet
        to download.
    """
    check_text("keep", where)
    if where in (DRIVE, DOWNLOAD) and COLAB not in sys.modules:
        raise InvalidArgument("keep", where, "the path of a file, as this is not Colab")
    if where == DOWNLOAD:
        _download()
        return
    if where == DRIVE:
        from google.colab import drive

        drive.mount(str(MOUNT))
    file = MOUNT / FILE if where == DRIVE else Path(where).expanduser().absolute()
    try:
        logbook.move_to(file)
    except OSError as error:
        raise InvalidArgument("keep", where, f"a file that can be written ({error})") from None


def _download() -> None:
    from google.colab import files

    file = logbook.place()
    if file is None or not file.is_file():
        allowed = "called once an answer has been checked, as nothing is kept yet"
        raise InvalidArgument("keep", DOWNLOAD, allowed)
    files.download(str(file))
