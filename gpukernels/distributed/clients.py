"""Clients of Dask: a client for this machine alone, and checks of a client from the caller."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from gpukernels.checks import check_flag, check_whole, needed
from gpukernels.distributed.peers import gpus_here
from gpukernels.errors import InvalidArgument

#: Nothing listens anywhere else unless a caller makes a cluster that does.
HERE = "127.0.0.1"
#: Variable that limits the GPUs a process sees; CUDA reads it once, when it begins in the process.
VISIBLE = "CUDA_VISIBLE_DEVICES"
#: Worker processes where there is no GPU.
WITHOUT_GPUS = 2


def visible_gpus() -> list[str]:
    """Return the GPUs that answer here, each as `VISIBLE` names it; none if none is to be used."""
    if os.environ.get("GPUKERNELS_DEVICE") == "simt":
        return []
    count = gpus_here()
    named = [name.strip() for name in os.environ.get(VISIBLE, "").split(",") if name.strip()]
    return named[:count] if named else [str(i) for i in range(count)]


def _nanny_of(gpus: Sequence[str]) -> Any:
    """Return a class that starts worker processes, each of which sees one of the `gpus`.

    A worker has a number, which it keeps when it is started again, and so the same GPU. Workers
    beyond the number of GPUs share them.
    """
    nanny: Any = needed("distributed", "dask").Nanny

    class OneGPU(nanny):
        def __init__(self, *args: Any, name: Any, **options: Any):
            own = gpus[int(name) % len(gpus)]
            super().__init__(*args, name=name, env={VISIBLE: own}, **options)

    return OneGPU


def local_client(workers: int | None = None, *, dashboard: bool = False) -> Any:
    """Return a Dask client with worker processes on this machine, which no other machine reaches.

    If there are GPUs, each worker sees one of them alone, and keeps the data that it gets on this
    GPU. All processes listen on 127.0.0.1 alone. (A plain ``LocalCluster()`` serves its dashboard
    on every network of the machine.) In a program, call it under ``if __name__ == "__main__":``,
    as workers import the program again.

    Parameters
    ----------
    workers : int, optional
        Processes, each of one thread: a device does one thing at a time. By default one per GPU, or
        two without a GPU. If there are more workers than GPUs, they share them in turn.
    dashboard : bool
        Whether Dask's dashboard is at http://127.0.0.1:8787 (it needs bokeh). Otherwise the
        part that Dask serves anyway is on a random port.

    Returns
    -------
    dask.distributed.Client
        Closed by ``close()`` or at the end of a ``with`` block, and its workers with it. For
        several machines, make a cluster by Dask or dask-cuda and give its client.

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
    if workers is not None:
        workers = check_whole("workers", workers, 1, 1024)
    dashboard = check_flag("dashboard", dashboard)
    client, gpus = needed("distributed", "dask").Client, visible_gpus()
    return client(
        n_workers=workers or len(gpus) or WITHOUT_GPUS,
        threads_per_worker=1,
        processes=True,
        worker_class=_nanny_of(gpus) if gpus else None,
        host=HERE,
        dashboard_address=f"{HERE}:{8787 if dashboard else 0}",
    )


def check_client(client: Any, device: object = None) -> None:
    """Raise InvalidArgument unless `client` is one of Dask's that waits, and no device is given."""
    kind = needed("distributed", "dask").Client
    if not isinstance(client, kind) or client.asynchronous:
        allowed = "a dask.distributed.Client that is not asynchronous, or None"
        raise InvalidArgument("client", client, allowed)
    if client.status != "running":
        raise InvalidArgument("client", client, f"one that is running; this one is {client.status}")
    if device is not None:
        allowed = "None with a client: each worker runs on the device that it finds"
        raise InvalidArgument("device", device, allowed)
