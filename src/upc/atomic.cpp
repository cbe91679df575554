// upc_atomic.h: domains, and the choice of a way for each operation.
//
// A domain is shared memory, one block of each thread with the same in it, so that a pointer to it means the same to all of them and
// each reads its own.
//
// Only fetch, set, swap, compare-and-swap and fetch_add of aligned 64-bit words are used underneath. Whatever is none of these is a loop of
// compare-and-swap; 32-bit objects are changed by that of the word they are in, which leaves the other half as it is. All accesses to a
// word, of its owner too, go the same way (internal.h): the processor's atomics are not atomic to every network's.

#include "upc/atomic_value.h"
#include "upc/collectives.h"

#undef upc_all_atomicdomain_alloc
#undef upc_all_atomicdomain_free
#undef upc_atomic_strict
#undef upc_atomic_relaxed

using namespace nearcache::upc;

namespace {

struct Domain {
  uint64_t mark;  // what makes it one
  AtomicType type;
  upc_op_t operations;
};

constexpr uint64_t live_mark = 0x6e63757063646f6d;
constexpr upc_op_t on_pointers = UPC_GET | UPC_SET | UPC_CSWAP;
constexpr upc_op_t on_floats = on_pointers | UPC_ADD | UPC_SUB | UPC_INC | UPC_DEC | UPC_MULT | UPC_MIN | UPC_MAX;
constexpr upc_op_t on_integers = on_floats | UPC_AND | UPC_OR | UPC_XOR;

upc_op_t operations_on(AtomicType type) {
  switch (type.family) {
    case Family::pointer: return on_pointers;
    case Family::floating: return on_floats;
    case Family::none: return 0;
    default: return on_integers;
  }
}

// One access: what the caller gave.
struct Access {
  const char* file;
  int line;
  const char* name;
  AtomicType type;
  upc_op_t operation;
  size_t thread;
  uint64_t address;
  AtomicValue operand1, operand2;
  bool wants_old;

  uint64_t word() const { return address & ~uint64_t{7}; }
  unsigned shift() const { return static_cast<unsigned>(address & 7) * 8; }
};

[[noreturn]] void fail_at(const char* file, int line, const char* name, const char* message) {
  ncupc_error(file, line, name, "%s", message);
}

Domain& own_part(ncupc_ptr domain) { return *reinterpret_cast<Domain*>(runtime.arena + ncupc_address(domain)); }

Domain& checked(ncupc_ptr domain, const char* file, int line, const char* name) {
  const uint64_t address = ncupc_address(domain);
  const bool possible = !ncupc_is_null(domain) && address % alignof(Domain) == 0 && address <= runtime.arena_bytes - sizeof(Domain);
  if (!possible || own_part(domain).mark != live_mark) fail_at(file, line, name, "this is no atomic domain");
  return own_part(domain);
}

AtomicValue operand(const Access& access, const void* from, const char* message) {
  if (from == nullptr) fail_at(access.file, access.line, access.name, message);
  return load_value(access.type, from);
}

Access checked_access(const char* file, int line, const char* name, ncupc_ptr given, const void* fetch, upc_op_t op,
                      ncupc_ptr target, const void* operand1, const void* operand2) {
  const Domain& domain = checked(given, file, line, name);
  Access access{file, line, name, domain.type, op, ncupc_thread(target), ncupc_address(target), {}, {}, fetch != nullptr};
  if ((op & (op - 1)) != 0 || (op & domain.operations) == 0) fail_at(file, line, name, "the operation is none of the domain's");
  if (ncupc_is_null(target)) fail_at(file, line, name, "the target is a null pointer");
  if (access.address % domain.type.alignment() != 0) fail_at(file, line, name, "the target is not aligned to its size");
  if (op == UPC_GET && fetch == nullptr) fail_at(file, line, name, "UPC_GET needs where to store what it fetches");
  if (op == UPC_INC || op == UPC_DEC) access.operand1 = one(domain.type);
  else if (op != UPC_GET) access.operand1 = operand(access, operand1, "operand1 is a null pointer");
  if (op == UPC_CSWAP) access.operand2 = operand(access, operand2, "operand2 is a null pointer");
  return access;
}

// By compare-and-swap of the word until nobody else was there in between. Returns the object's old value.
uint64_t change_in_word(const Access& access) {
  uint64_t word = word_fetch(access.thread, access.word());
  for (;;) {
    const uint64_t old = word_part(access.type, word, access.shift());
    uint64_t changed = old;
    if (!apply(access.type, access.operation, old, access.operand1.bits, access.operand2.bits, &changed)) return old;
    const uint64_t found =
        word_compare_swap(access.thread, access.word(), word, with_word_part(access.type, word, access.shift(), changed));
    if (found == word) return old;
    word = found;
  }
}

uint64_t do_word(const Access& access) {
  if (access.operation == UPC_GET) return word_part(access.type, word_fetch(access.thread, access.word()), access.shift());
  if (access.type.size == 8) {
    const uint64_t operand = access.operand1.bits;
    if (access.operation == UPC_SET && access.wants_old) return word_swap(access.thread, access.address, operand);
    if (access.operation == UPC_SET) {
      word_set(access.thread, access.address, operand);
      return 0;
    }
    if (access.type.family == Family::signed_integer || access.type.family == Family::unsigned_integer) {
      if (access.operation == UPC_ADD || access.operation == UPC_INC) return word_fetch_add(access.thread, access.address, operand);
      if (access.operation == UPC_SUB || access.operation == UPC_DEC) return word_fetch_add(access.thread, access.address, 0 - operand);
      if (access.operation == UPC_CSWAP) return word_compare_swap(access.thread, access.address, operand, access.operand2.bits);
    }
  }
  return change_in_word(access);
}

// Pointers-to-shared of two words, under a lock at their owner. Every access through a domain takes it.
AtomicValue do_pair(const Access& access) {
  while (word_compare_swap(access.thread, pair_lock_offset, 0, my_thread() + 1) != 0) Waiter().pause();
  acquire();
  AtomicValue old;
  const ncupc_ptr target = at(access.thread, access.address);
  read_bytes(&old.pointer, target, sizeof old.pointer);
  const bool writes = access.operation == UPC_SET || (access.operation == UPC_CSWAP && ncupc_equal(old.pointer, access.operand1.pointer));
  if (writes) {
    const ncupc_ptr value = access.operation == UPC_SET ? access.operand1.pointer : access.operand2.pointer;
    write_bytes(target, &value, sizeof value);
  }
  release();
  word_swap(access.thread, pair_lock_offset, 0);
  return old;
}

void do_access(const Access& access, void* fetch) {
  // An atomic of the library is not ordered to this thread's puts to the same object, which may still be on their way.
  if (ncupc_near[access.thread] == nullptr) {
    before_far_read(access.thread, access.word(), 8);
    if (access.operation == UPC_SET && fetch == nullptr) before_far_write(access.thread, access.word(), 8);
  }
  AtomicValue old;
  if (access.type.size > 8) old = do_pair(access);
  else old.bits = do_word(access);
  if (fetch != nullptr) store_value(access.type, fetch, old);
}

}  // namespace

extern "C" {

ncupc_ptr ncupc_all_atomicdomain_alloc(const char* file, int line, upc_type_t type, upc_op_t ops, upc_atomichint_t hints) {
  Call call{file, line, Kind::atomicdomain, "upc_all_atomicdomain_alloc"};
  const AtomicType atomic_type = atomic_type_of(type);
  if (atomic_type.family == Family::none) fail(call, "type %d is none of atomic domains", type);
  if ((ops & ~operations_on(atomic_type)) != 0) fail(call, "operations 0x%lx are not for this type", ops & ~operations_on(atomic_type));
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

void ncupc_atomic_relaxed(const char* file, int line, ncupc_ptr domain, void* fetch, upc_op_t op, ncupc_ptr target,
                          const void* operand1, const void* operand2) {
  do_access(checked_access(file, line, "upc_atomic_relaxed", domain, fetch, op, target, operand1, operand2), fetch);
}

void ncupc_atomic_strict(const char* file, int line, ncupc_ptr domain, void* fetch, upc_op_t op, ncupc_ptr target,
                         const void* operand1, const void* operand2) {
  const Access access = checked_access(file, line, "upc_atomic_strict", domain, fetch, op, target, operand1, operand2);
  release();
  do_access(access, fetch);
  release();  // a set is one of the puts
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  acquire();
}

int upc_atomic_isfast(upc_type_t type, upc_op_t ops, ncupc_ptr addr) {
  (void)addr;
  const AtomicType atomic_type = atomic_type_of(type);
  if (atomic_type.size != 8 || (ops & ~operations_on(atomic_type)) != 0) return 0;
  constexpr upc_op_t any = UPC_GET | UPC_SET, integers = any | UPC_CSWAP | UPC_ADD | UPC_SUB | UPC_INC | UPC_DEC;
  const bool integer = atomic_type.family == Family::signed_integer || atomic_type.family == Family::unsigned_integer;
  return (ops & ~(integer ? integers : any)) == 0;
}

ncupc_ptr upc_all_atomicdomain_alloc(upc_type_t type, upc_op_t ops, upc_atomichint_t hints) {
  return ncupc_all_atomicdomain_alloc(nullptr, 0, type, ops, hints);
}
void upc_all_atomicdomain_free(ncupc_ptr domain) { ncupc_all_atomicdomain_free(nullptr, 0, domain); }
void upc_atomic_relaxed(ncupc_ptr domain, void* fetch, upc_op_t op, ncupc_ptr target, const void* operand1,
                        const void* operand2) {
  ncupc_atomic_relaxed(nullptr, 0, domain, fetch, op, target, operand1, operand2);
}
void upc_atomic_strict(ncupc_ptr domain, void* fetch, upc_op_t op, ncupc_ptr target, const void* operand1, const void* operand2) {
  ncupc_atomic_strict(nullptr, 0, domain, fetch, op, target, operand1, operand2);
}

}  // extern "C"
