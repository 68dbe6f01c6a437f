"""The developers' tools, in no wheel: generated pages, speed, other simulators, converters of recordings, published results.

Each is a command of its own, `python -m tonopah_dev.NAME`: `bench`, `published`, `ns2`, `case_log`, `instructions`,
`pages.reference` and others of `pages`, `converters.linux`, `converters.queues`. Nothing in `tonopah` imports anything here.
"""
