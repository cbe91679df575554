"""The programs of the UPC language suite: written ones, generated families, random C."""
