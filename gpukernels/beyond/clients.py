"""Clients of Dask: one for this machine alone, and what is asked of one that a caller brings."""

from __future__ import annotations

import importlib
from typing import Any

from gpukernels.assembly import MissingTool
from gpukernels.checks import check_flag, check_whole
from gpukernels.errors import InvalidArgument

#: Nothing listens anywhere else unless a caller makes a cluster that does.
HERE = "127.0.0.1"


def needed(module: str) -> Any:
    """Return a module that the extra `dask` installs; MissingTool if it is not there."""
    try:
        return importlib.import_module(module)
    except ImportError as missing:
        raise MissingTool(
            f"this needs {missing.name or module}, which is not installed: "
            "pip install 'gpukernels[dask]'"
        ) from missing


def local_client(workers: int = 2, *, dashboard: bool = False) -> Any:
    """Return a Dask client with worker processes on this machine, to which nobody else can talk.

    All of its processes listen on 127.0.0.1 alone. (A plain ``LocalCluster()`` serves its dashboard
    on every network of the machine.) In a program, call it under ``if __name__ == "__main__":``, as
    workers import the program anew.

    Parameters
    ----------
    workers : int
        Processes, each of one thread: a device does one thing at a time.
    dashboard : bool
        Whether Dask's dashboard is at http://127.0.0.1:8787 (it needs bokeh); else what is served
        of it has a port that nobody knows.

    Returns
    -------
    dask.distributed.Client
        Closed by ``close()`` or at the end of a ``with`` block, and its workers with it. For a GPU
        a worker, or several machines, make a cluster by dask-cuda or Dask and give its client.

    Raises
    ------
    InvalidArgument
        If `workers` is no number of processes, or `dashboard` no flag.
    MissingTool
        If Dask is not installed.

    Examples
    --------
    >>> import gpukernels as gk
    >>> try:
    ...     gk.local_client(workers=0)
    ... except gk.InvalidArgument as error:
    ...     print(error)
    workers = 0: must be a whole number from 1 to 1024
    """
    workers = check_whole("workers", workers, 1, 1024)
    dashboard = check_flag("dashboard", dashboard)
    return needed("distributed").Client(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        host=HERE,
        dashboard_address=f"{HERE}:{8787 if dashboard else 0}",
    )


def check_client(client: Any, device: object = None) -> None:
    """Raise InvalidArgument unless `client` is one of Dask's that waits, and no device is given."""
    kind = needed("distributed").Client
    if not isinstance(client, kind) or client.asynchronous:
        allowed = "a dask.distributed.Client that is not asynchronous, or None"
        raise InvalidArgument("client", client, allowed)
    if client.status != "running":
        raise InvalidArgument("client", client, f"one that is running; this one is {client.status}")
    if device is not None:
        allowed = "None with a client: each worker runs on the device that it finds"
        raise InvalidArgument("device", device, allowed)
