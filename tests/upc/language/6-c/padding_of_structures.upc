// Structures are copied with their padding, whatever the compiler does with their members.
#include <stddef.h>
#include <string.h>
#include "check.h"

#define OPTIMISED __attribute__((optimize("O2")))

struct small { char c; short s; };
struct eight { char c; int i; };
struct middle { char c; double d; short s; };
struct large { struct middle m[5]; char c; long l[20]; char e; };
union either { struct middle m; char c; };
struct fixed { char c; const int i; };

#define ASSIGNABLE(X)                                                             \
    X(small, struct small) X(eight, struct eight) X(middle, struct middle)        \
    X(large, struct large) X(either, union either)
#define TYPES(X) ASSIGNABLE(X) X(fixed, struct fixed)

#define DECLARE(name, T)                    \
    shared T name##_relaxed[2 * THREADS];   \
    shared strict T name##_strict[THREADS];
TYPES(DECLARE)

static void fill(unsigned char *bytes, size_t size, int first)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = first + i;
}

#define READ(name, T)                                                             \
    static T name##_returned(int t) { return name##_relaxed[t]; }                 \
    static char name##_given(T given) { return given.c; }                         \
    OPTIMISED static void name##_read(int t)                                      \
    {                                                                             \
        unsigned char bytes[sizeof(T)];                                           \
        fill(bytes, sizeof bytes, 0xa0 + t);                                      \
        upc_memput(&name##_relaxed[t], bytes, sizeof bytes);                      \
        upc_memput(&name##_strict[t], bytes, sizeof bytes);                       \
        upc_fence;                                                                \
        T read = name##_relaxed[t];                                               \
        CHECK(memcmp(&read, bytes, sizeof bytes) == 0);                           \
        T strictly = name##_strict[t];                                            \
        CHECK(memcmp(&strictly, bytes, sizeof bytes) == 0);                       \
        const T chosen = *(t >= 0 ? &name##_relaxed[t] : NULL);                   \
        CHECK(memcmp(&chosen, bytes, sizeof bytes) == 0);                         \
        const char c = bytes[offsetof(T, c)];                                     \
        CHECK_EQ(name##_returned(t).c, c);                                        \
        CHECK_EQ(name##_given(name##_relaxed[t]), c);                             \
    }
TYPES(READ)

#define WRITE(name, T)                                                            \
    OPTIMISED static void name##_write(int t)                                     \
    {                                                                             \
        unsigned char bytes[sizeof(T)], found[sizeof(T)];                         \
        fill(bytes, sizeof bytes, 0xb0 + t);                                      \
        T mine;                                                                   \
        memcpy(&mine, bytes, sizeof mine);                                        \
        name##_relaxed[t] = mine;                                                 \
        upc_memget(found, &name##_relaxed[t], sizeof found);                      \
        CHECK(memcmp(found, bytes, sizeof bytes) == 0);                           \
        name##_relaxed[t + THREADS] = name##_relaxed[t];                          \
        upc_memget(found, &name##_relaxed[t + THREADS], sizeof found);            \
        CHECK(memcmp(found, bytes, sizeof bytes) == 0);                           \
        name##_strict[t] = name##_relaxed[t];                                     \
        upc_memget(found, &name##_strict[t], sizeof found);                       \
        CHECK(memcmp(found, bytes, sizeof bytes) == 0);                           \
    }
ASSIGNABLE(WRITE)

int main(void)
{
    const int peer = (MYTHREAD + 1) % THREADS;
#define CALL_READ(name, T) name##_read(peer);
    TYPES(CALL_READ)
    upc_barrier;
#define CALL_WRITE(name, T) name##_write(peer);
    ASSIGNABLE(CALL_WRITE)
    upc_barrier;
    return check_failures;
}
