/* A stand-in for CUDA's driver, with its soname: says of the memory that it gave out that it is a device's. */
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

enum { invalid_value = 1, memory_type_attribute = 2, device_memory = 2 };

static uintptr_t given;
static size_t given_bytes;
static long questions;

/* The processor can read and write it here, so that an MPI which knows nothing of devices can fill it. */
void *fake_driver_allocate(size_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  given = (uintptr_t)memory;
  given_bytes = bytes;
  return memory;
}

long fake_driver_questions(void) { return questions; }

int cuPointerGetAttribute(void *answer, int attribute, uintptr_t pointer) {
  questions++;
  if (attribute != memory_type_attribute || pointer < given || pointer >= given + given_bytes) {
    return invalid_value;
  }
  *(unsigned *)answer = device_memory;
  return 0;
}
