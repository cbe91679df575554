"""Constraint violations that come in pairs of types: what is assigned to what, which operator is applied to what."""

from .text import shared

BLOCKS = (None, 2, 3, 0)
NAMES = {None: "plain", 0: "indefinite"}

ASSIGNED = """\
// Pointers to shared of different block sizes are not assigned without a cast (6.4.3, 6.5.1.1).
{left} int *p;
{right} int *q;

int main(void)
{{
    p = q; // error: (?i)block|layout|incompatible|cast
    return 0;
}}
"""
APPLIED = """\
// {what} (C99 6.5).
shared [2] int a[2 * THREADS];
shared struct {{ int x; }} s;
shared int n;
shared void *v;
double d;

int main(void)
{{
    shared [2] int *p = a, *q = a;
    {statement}; // error: .*
    return p == q && v == 0 && d == 0;
}}
"""
STATEMENTS = {
    "product": ("A pointer to shared is not multiplied", "p * 2"),
    "quotient": ("A pointer to shared is not divided", "p / 2"),
    "remainder": ("A pointer to shared has no remainder", "p % 2"),
    "shift": ("A pointer to shared is not shifted", "p << 1"),
    "bits": ("A pointer to shared has no bits", "p & 1"),
    "complement": ("A pointer to shared has no complement", "~p"),
    "negation": ("A pointer to shared has no sign", "-p"),
    "floating_index": ("The index is an integer", "a[d]"),
    "floating_step": ("A pointer is stepped by integers", "p + 1.5"),
    "floating_bits": ("% is for integers", "d % n"),
    "integer_minus_pointer": ("A pointer is not subtracted from an integer", "1 - p"),
    "structure_sum": ("A structure is no number", "s + 1"),
    "structure_not": ("A structure is no condition", "!s"),
    "structure_condition": ("A structure is no condition", "if (s) n = 1"),
    "pointer_structure": ("-> wants a pointer to a structure", "p->x"),
    "shared_structure_arrow": ("-> wants a pointer", "s->x"),
    "call": ("A pointer to an object is not called", "p(1)"),
    "dereferenced_void": ("shared void has no value", "n = *v"),
    "assigned_sum": ("A sum is no object", "(n + 1) = 2"),
    "assigned_constant": ("A constant is no object", "3 = n"),
    "increment_of_value": ("A value is not incremented", "(n + 1)++"),
    "address_of_constant": ("A constant has no address", "q = &3"),
    "subscripted_integer": ("One operand of [] is a pointer", "n[n]"),
    "integer_to_pointer": ("An integer is no pointer", "p = 7"),
    "pointer_to_integer": ("A pointer becomes an integer by a cast only", "n = p"),
    "double_to_pointer": ("A number is no pointer", "p = d"),
    "pointer_plus_assign": ("A pointer is not added to a pointer", "p += q"),
    "structure_compound": ("A structure is no number", "s += 1"),
    "order_with_private": (
        "Private pointers and pointers to shared have no order",
        "n = p < (int *)0",
    ),
    "conditional_types": ("The conditional's operands do not fit together", "n ? p : d"),
}


def programs():
    for left in BLOCKS:
        for right in BLOCKS:
            if left != right:
                name = f"{NAMES.get(left, left)}_from_{NAMES.get(right, right)}"
                yield (
                    f"refused/assigned_{name}",
                    ASSIGNED.format(left=shared(left), right=shared(right)),
                )
    for name, (what, statement) in STATEMENTS.items():
        yield f"refused/{name}", APPLIED.format(what=what, statement=statement)
