"""The former place of `cc.base`, where an engine built before this layout looks for the base class."""

from tonopah.cc.base import CongestionControl

__all__ = ["CongestionControl"]
