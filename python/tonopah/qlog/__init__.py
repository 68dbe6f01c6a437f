"""qlogs of any stack, read by one reader (docs/files.md): forms.py their records, trace.py what these say."""
