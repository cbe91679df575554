#!/bin/sed -f
# The headers' comments as Doxygen reads them: a comment before a declaration, one behind a member, and names in backquotes.
1s|^/\*|/** @file\n *|
s|^/\* |/** |
s|\([;,0-9"]\)\( *\)/\* |\1\2/**< |
