"""How recordings were made compact: the files in data/linux and data/linux-aqm."""
