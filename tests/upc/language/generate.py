"""The generated families of the language suite."""


def programs():
    """(name, source) of each."""
    return []
