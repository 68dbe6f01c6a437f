"""The hash of run ids, stored results and sources of algorithms."""

import hashlib


def digest(*fields: str | bytes) -> str:
    """Return BLAKE2b (RFC 7693), 16 bytes in hexadecimal digits, of the fields with line ends between them."""
    data = b"\n".join(field if isinstance(field, bytes) else field.encode("utf-8", "surrogatepass") for field in fields)
    return hashlib.blake2b(data, digest_size=16).hexdigest()
