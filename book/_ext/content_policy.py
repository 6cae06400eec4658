"""The content security policy of the pages: they run their own scripts and load from one host.

A page names the checksum of each script within it, so a browser runs no other one. The worker in
which a reader's program runs has the policy of its page.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable

SCRIPT = re.compile(r"<script\b(?P<options>[^>]*)>(?P<code>.*?)</script>", re.DOTALL)
#: The theme's button for printing has its script in an attribute, for which there is no checksum.
PRINT = ' onclick="window.print()"'


def checksums(html: str) -> list[str]:
    """Return the source expressions of the scripts that stand within a page."""
    codes = [
        match["code"]
        for match in SCRIPT.finditer(html)
        if " src=" not in match["options"] and "application/json" not in match["options"]
    ]
    digests = (hashlib.sha256(code.encode()).digest() for code in dict.fromkeys(codes))
    return [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]


def policy_of(html: str, hosts: Iterable[str] = ()) -> str:
    """Return the policy of a page which may also load files from these hosts."""
    return "; ".join(
        [
            "default-src 'self'",
            f"script-src 'self' 'wasm-unsafe-eval' {' '.join(checksums(html))}",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            " ".join(["connect-src 'self'", *hosts]),
            "worker-src blob:",
            "object-src 'none'",
            "base-uri 'none'",
        ]
    )


def with_policy(html: str, hosts: Iterable[str] = ()) -> str:
    """Return a page with its policy, which comes before anything that the page loads."""
    html = html.replace(PRINT, ' data-print=""')
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy_of(html, hosts)}">'
    return re.sub(r"<head\b[^>]*>", lambda head: f"{head[0]}\n    {meta}", html, count=1)
