/* The part of reductions.c that exists once per type. Included with T, the type, and SUFFIX, the
 * suffix of its functions' names. */

#define JOIN_NAMES(a, b) a##b
#define JOIN(a, b) JOIN_NAMES(a, b)
#define OF_TYPE(name) JOIN(name, SUFFIX)
#define TYPE_NAME_OF(suffix) #suffix
#define NAME_OF(suffix) TYPE_NAME_OF(suffix)
#define TYPE_NAME NAME_OF(SUFFIX)

/* Integers wrap around. */
#define WRAPPED(a, op, b) \
  ((T)0.5 != 0 ? (T)((a)op(b)) : (T)((unsigned long)(a)op(unsigned long)(b)))

static T OF_TYPE(composed_)(T a, T b) { /* first a, then b */
  const unsigned x = (unsigned)(int)a & 255, y = (unsigned)(int)b & 255;
  const unsigned m = (x & 15) * (y & 15) & 15, c = ((y & 15) * (x >> 4) + (y >> 4)) & 15;
  return (T)(sizeof(T) == 1 ? (int)(signed char)(m | c << 4) : (int)(m | c << 4));
}

static T OF_TYPE(larger_)(T a, T b) { return a > b ? a : b; }

/* Combines two values as C does. */
static T OF_TYPE(combined_)(upc_op_t op, T a, T b) {
  switch (op) {
    case UPC_ADD:
      return WRAPPED(a, +, b);
    case UPC_MULT:
      return WRAPPED(a, *, b);
    case UPC_AND:
      return (T)((long)a & (long)b);
    case UPC_OR:
      return (T)((long)a | (long)b);
    case UPC_XOR:
      return (T)((long)a ^ (long)b);
    case UPC_LOGAND:
      return (T)(a && b);
    case UPC_LOGOR:
      return (T)(a || b);
    case UPC_MIN:
      return a < b ? a : b;
    case UPC_MAX:
    case UPC_FUNC:
      return OF_TYPE(larger_)(a, b);
    default:
      return OF_TYPE(composed_)(a, b);
  }
}

static void OF_TYPE(fill_)(const struct call* call, ncupc_ptr first, uint64_t seed) {
  for (size_t i = 0; i < call->count; ++i) {
    const ncupc_ptr p = ncupc_add(first, (ptrdiff_t)i, sizeof(T), call->block);
    uint64_t state = seed + i;
    if ((int)ncupc_thread(p) == MYTHREAD) *(T*)ncupc_local(p) = (T)(coll_next(&state) % 50);
  }
}

static void OF_TYPE(check_)(const struct call* call, ncupc_ptr first, ncupc_ptr first_prefix) {
  T running = 0;
  for (size_t i = 0; i < call->count; ++i) {
    const T element = NCUPC_GET(T, ncupc_add(first, (ptrdiff_t)i, sizeof(T), call->block));
    running = i == 0 ? element : OF_TYPE(combined_)(call->op, running, element);
    if (!call->with_prefixes) continue;
    const T found = NCUPC_GET(T, ncupc_add(first_prefix, (ptrdiff_t)i, sizeof(T), call->block));
    COLL_CHECK(found == running,
               "upc_all_prefix_reduce%s of %zu elements in blocks of %zu, the first %zu, op %lx: "
               "[%zu] is %ld, not %ld",
               TYPE_NAME, call->count, call->block, call->skipped, call->op, i, (long)found,
               (long)running);
  }
  if (call->with_prefixes) return;
  const T found = NCUPC_GET(T, coll_at(call->root, ncupc_address(result)));
  COLL_CHECK(found == running,
             "upc_all_reduce%s of %zu elements in blocks of %zu, the first %zu, to thread %d, op "
             "%lx: %ld, not %ld",
             TYPE_NAME, call->count, call->block, call->skipped, call->root, call->op, (long)found,
             (long)running);
}

static void OF_TYPE(round_)(uint64_t seed) {
  const struct call call = random_call((T)0.5 != 0);
  const ncupc_ptr first = ncupc_add(elements, (ptrdiff_t)call.skipped, sizeof(T), call.block);
  const ncupc_ptr first_prefix =
      ncupc_add(prefixes, (ptrdiff_t)call.skipped, sizeof(T), call.block);
  const int flags = coll_in[call.in] | coll_out[call.out];
  T (*function)(T, T) = NULL;
  if (call.op == UPC_FUNC) function = OF_TYPE(larger_);
  if (call.op == UPC_NONCOMM_FUNC) function = OF_TYPE(composed_);
  coll_delay();
  OF_TYPE(fill_)(&call, first, seed);
  if (call.in == 2) NCUPC_BARRIER();
  coll_delay();
  if (call.with_prefixes) {
    OF_TYPE(upc_all_prefix_reduce)
    (first_prefix, first, call.op, call.count, call.block, function, flags);
  } else {
    OF_TYPE(upc_all_reduce)
    (coll_at(call.root, ncupc_address(result)), first, call.op, call.count, call.block, function,
     flags);
  }
  if (call.out != 0) NCUPC_BARRIER();
  OF_TYPE(check_)(&call, first, first_prefix);
  NCUPC_BARRIER();
}

#undef JOIN_NAMES
#undef JOIN
#undef OF_TYPE
#undef TYPE_NAME_OF
#undef NAME_OF
#undef TYPE_NAME
#undef WRAPPED
#undef T
#undef SUFFIX
