"""Serve the built book on localhost and open a browser: `python book/serve.py _build/html`."""

from __future__ import annotations

import functools
import http.server
import sys
import webbrowser


def serve(folder: str) -> None:
    """Serve `folder` on a free port of this machine until Ctrl-C."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        address = f"http://127.0.0.1:{server.server_port}/"
        print(f"The book is at {address} (Ctrl-C to stop)", flush=True)
        webbrowser.open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    serve(sys.argv[1])
