# SPDX-License-Identifier: BSD-3-Clause
"""Lowers main of a UPC program: the runtime calls it as int ncupc_main(int, char **) on every
thread, however the source declares it."""

from pycparser import c_ast

from . import upc_ast
from .typenames import identifier, number

NAME = "ncupc_main"
STATUS, ARGUMENTS, ENVIRONMENT = "ncupc_argc", "ncupc_argv", "__environ"


def _named(*words: str) -> c_ast.Node:
    return c_ast.IdentifierType(list(words))


def _is_plain(declaration: c_ast.Node, pointers: int) -> bool:
    """Return whether a parameter is an int (`pointers` is 0), or char with this many levels of
    pointers or arrays."""
    node = declaration.type
    for _ in range(pointers):
        if not isinstance(node, (c_ast.PtrDecl, c_ast.ArrayDecl)):
            return False
        node = node.type
    return (
        isinstance(node, c_ast.TypeDecl)
        and not node.quals
        and getattr(node.type, "names", None) == (["char"] if pointers else ["int"])
    )


def complete(node: c_ast.Node) -> None:
    """Give the lowered definition of main the signature of ncupc_main, and a return value if its
    end is reached."""
    function = node.decl.type
    given = node.param_decls or (function.args.params if function.args is not None else [])
    given = [each for each in given if isinstance(each, c_ast.Decl) and each.name]
    if not (
        len(given) == 2
        and not node.param_decls
        and _is_plain(given[0], 0)
        and _is_plain(given[1], 2)
    ):
        _replace_parameters(node, function, given)
    result = function.type
    if isinstance(result, c_ast.TypeDecl):
        result.type = _named("int")
    items = node.body.block_items
    if not items or not isinstance(items[-1], c_ast.Return):
        items.append(c_ast.Return(number(0)))


def _perhaps_unused(name: str, word: str) -> c_ast.Node:
    """Return a declarator for which -Wextra does not warn if the source has no such parameter."""
    return c_ast.TypeDecl(
        name, [], None, _named(word), attributes=[upc_ast.GnuAttribute("__attribute__((unused))")]
    )


def _replace_parameters(node: c_ast.Node, function: c_ast.Node, given: list[c_ast.Node]) -> None:
    """Turn the source's names of its parameters into variables."""
    status = c_ast.Decl(STATUS, [], [], [], [], _perhaps_unused(STATUS, "int"), None, None)
    pointer = c_ast.PtrDecl([], c_ast.PtrDecl([], _perhaps_unused(ARGUMENTS, "char")))
    arguments = c_ast.Decl(ARGUMENTS, [], [], [], [], pointer, None, None)
    variables = []
    for declaration, source in zip(given, (STATUS, ARGUMENTS, ENVIRONMENT)):
        if isinstance(declaration.type, c_ast.ArrayDecl):
            declaration.type = c_ast.PtrDecl([], declaration.type.type)
        value = identifier(source)
        declaration.init = value if source == STATUS else c_ast.Cast(_void_pointer(), value)
        variables.append(declaration)
    if len(given) > 2:
        pointer = c_ast.PtrDecl(
            [], c_ast.PtrDecl([], c_ast.TypeDecl(ENVIRONMENT, [], None, _named("char")))
        )
        variables.insert(0, c_ast.Decl(ENVIRONMENT, [], [], ["extern"], [], pointer, None, None))
    node.param_decls = None
    function.args = c_ast.ParamList([status, arguments])
    node.body.block_items[:0] = variables


def _void_pointer() -> c_ast.Node:
    return c_ast.Typename(
        None, [], None, c_ast.PtrDecl([], c_ast.TypeDecl(None, [], None, _named("void")))
    )
