"""Cases of specifications as worlds with checks: `tonopah conform` (docs/conform.md)."""
