"""python -m nearcache.upcc: upcc where its script is not installed."""

from .driver import entry

entry()
