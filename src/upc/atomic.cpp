// SPDX-License-Identifier: BSD-3-Clause

// upc_atomic.h: domains, and the implementation chosen for each operation.
//
// A domain is shared memory: a block on each thread, all with the same contents, so that a pointer
// to it means the same on all threads and each reads its own block.
#include "upc/atomic_access.h"
#include "upc/collectives.h"

using namespace nearcache::upc;

namespace {

struct Domain {
  uint64_t mark;  // identifies a domain
  AtomicType type;
  upc_op_t operations;
};

constexpr uint64_t live_mark = 0x6e63757063646f6d;
constexpr upc_op_t on_pointers = UPC_GET | UPC_SET | UPC_CSWAP;
constexpr upc_op_t on_floats =
    on_pointers | UPC_ADD | UPC_SUB | UPC_INC | UPC_DEC | UPC_MULT | UPC_MIN | UPC_MAX;
constexpr upc_op_t on_integers = on_floats | UPC_AND | UPC_OR | UPC_XOR;

upc_op_t operations_on(AtomicType type) {
  switch (type.family) {
    case Family::pointer:
      return on_pointers;
    case Family::floating:
      return on_floats;
    case Family::none:
      return 0;
    default:
      return on_integers;
  }
}

[[noreturn]] void fail_at(const char* file, int line, const char* name, const char* message) {
  ncupc_error(file, line, name, "%s", message);
}

Domain& own_part(ncupc_ptr domain) {
  return *reinterpret_cast<Domain*>(runtime.arena + ncupc_address(domain));
}

Domain& checked(ncupc_ptr domain, const char* file, int line, const char* name) {
  const uint64_t address = ncupc_address(domain);
  const bool possible = !ncupc_is_null(domain) && address % alignof(Domain) == 0 &&
                        address <= runtime.arena_bytes - sizeof(Domain);
  if (!possible || own_part(domain).mark != live_mark)
    fail_at(file, line, name, "this is not an atomic domain");
  return own_part(domain);
}

AtomicValue operand(const Access& access, const void* from, const char* message) {
  if (from == nullptr) fail_at(access.file, access.line, access.name, message);
  return load_value(access.type, from);
}

Access checked_access(const char* file, int line, const char* name, ncupc_ptr given,
                      const void* fetch, upc_op_t op, ncupc_ptr target, const void* operand1,
                      const void* operand2) {
  const Domain& domain = checked(given, file, line, name);
  Access access{file,
                line,
                name,
                domain.type,
                op,
                ncupc_thread(target),
                ncupc_address(target),
                {},
                {},
                fetch != nullptr};
  if ((op & (op - 1)) != 0 || (op & domain.operations) == 0)
    fail_at(file, line, name, "the operation is not one of the domain's");
  if (ncupc_is_null(target)) fail_at(file, line, name, "the target is a null pointer");
  if (access.address % domain.type.alignment() != 0)
    fail_at(file, line, name, "the target is not aligned to its size");
  if (op == UPC_GET && fetch == nullptr)
    fail_at(file, line, name, "UPC_GET needs where to store what it fetches");
  if (op == UPC_INC || op == UPC_DEC)
    access.operand1 = one(domain.type);
  else if (op != UPC_GET)
    access.operand1 = operand(access, operand1, "operand1 is a null pointer");
  if (op == UPC_CSWAP) access.operand2 = operand(access, operand2, "operand2 is a null pointer");
  return access;
}

}  // namespace

extern "C" {

ncupc_ptr ncupc_all_atomicdomain_alloc(const char* file, int line, upc_type_t type, upc_op_t ops,
                                       upc_atomichint_t hints) {
  Call call{file, line, Kind::atomicdomain, "upc_all_atomicdomain_alloc"};
  const AtomicType atomic_type = atomic_type_of(type);
  if (atomic_type.family == Family::none) fail(call, "type %d is not one of atomic domains", type);
  if ((ops & ~operations_on(atomic_type)) != 0)
    fail(call, "operations 0x%lx cannot be used with this type", ops & ~operations_on(atomic_type));
  agree(call, static_cast<uint64_t>(type));
  agree(call, ops);
  agree(call, static_cast<uint64_t>(hints));
  meet(call);
  const ncupc_ptr domain = ncupc_all_alloc(file, line, threads(), sizeof(Domain));
  own_part(domain) = {live_mark, atomic_type, ops};
  return domain;
}

void ncupc_all_atomicdomain_free(const char* file, int line, ncupc_ptr domain) {
  Call call{file, line, Kind::atomicdomain, "upc_all_atomicdomain_free"};
  agree(call, ncupc_address(domain));
  meet(call);
  if (ncupc_is_null(domain)) return;
  checked(domain, file, line, call.name).mark = 0;
  ncupc_all_free(file, line, domain);
}

void ncupc_atomic_relaxed(const char* file, int line, ncupc_ptr domain, void* fetch, upc_op_t op,
                          ncupc_ptr target, const void* operand1, const void* operand2) {
  do_access(checked_access(file, line, "upc_atomic_relaxed", domain, fetch, op, target, operand1,
                           operand2),
            fetch);
}

void ncupc_atomic_strict(const char* file, int line, ncupc_ptr domain, void* fetch, upc_op_t op,
                         ncupc_ptr target, const void* operand1, const void* operand2) {
  do_strict_access(checked_access(file, line, "upc_atomic_strict", domain, fetch, op, target,
                                  operand1, operand2),
                   fetch);
}

int upc_atomic_isfast(upc_type_t type, upc_op_t ops, ncupc_ptr addr) {
  (void)addr;
  const AtomicType atomic_type = atomic_type_of(type);
  if (atomic_type.size != 8 || (ops & ~operations_on(atomic_type)) != 0) return 0;
  constexpr upc_op_t any = UPC_GET | UPC_SET,
                     integers = any | UPC_CSWAP | UPC_ADD | UPC_SUB | UPC_INC | UPC_DEC;
  const bool integer = atomic_type.family == Family::signed_integer ||
                       atomic_type.family == Family::unsigned_integer;
  return (ops & ~(integer ? integers : any)) == 0;
}

}  // extern "C"
