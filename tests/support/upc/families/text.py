"""What the families write their programs with."""

HEAD = '#include <upc.h>\n#include "check.h"\n'


def program(rule, declarations, body, comments=(), includes=()):
    """A whole program: the rule it checks as first comment, declarations, and what main does."""
    lines = [
        f"// {rule}",
        *(f"// {comment}" for comment in comments),
        *(f"#include <{name}>" for name in includes),
        HEAD,
    ]
    lines += [
        declarations.strip("\n"),
        "",
        "int main(void)",
        "{",
        indented(body),
        "    return check_failures;",
        "}",
        "",
    ]
    return "\n".join(lines)


def indented(body):
    return "\n".join(f"    {line}" if line else "" for line in body.strip("\n").split("\n"))


def layout(block):
    """The layout qualifier of a block size: None is none, 0 is indefinite."""
    return "" if block is None else "[]" if block == 0 else "[*]" if block == "*" else f"[{block}]"


def shared(block):
    return f"shared {layout(block)}".rstrip()
