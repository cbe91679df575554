/* Stand-ins for GPU drivers, each with its soname and its pointer query, built from this file with
 * CUDA, HIP or LEVEL_ZERO defined. They report the memory that they allocated as a device's. */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

enum { success = 0, invalid_value = 1 };

static uintptr_t given;
static size_t given_bytes;
static long questions;

/* Allocates at an address chosen by the program, or anywhere if `at` is null. The processor can
 * read and write this memory, so that an MPI without device support can fill it. */
void* fake_driver_allocate(void* at, size_t bytes) {
  void* memory = mmap(at, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
  given = (uintptr_t)memory;
  given_bytes = bytes;
  return memory;
}

void fake_driver_free(void) {
  munmap((void*)given, given_bytes);
  given = given_bytes = 0;
}

long fake_driver_questions(void) { return questions; }

static int is_given(uintptr_t pointer) {
  questions++;
  return pointer >= given && pointer < given + given_bytes;
}

#ifdef CUDA

enum { memory_type_attribute = 2, device_memory = 2 };

int cuPointerGetAttribute(void* answer, int attribute, uintptr_t pointer) {
  if (!is_given(pointer) || attribute != memory_type_attribute) {
    return invalid_value;
  }
  *(unsigned*)answer = device_memory;
  return success;
}

#elif defined(HIP)

struct attributes {
  int type, device;
  void *device_pointer, *host_pointer;
  int is_managed;
  unsigned flags;
};

static int last_error;

int hipPeekAtLastError(void) { return last_error; }

int hipGetLastError(void) {
  const int error = last_error;
  last_error = success;
  return error;
}

int hipPointerGetAttributes(struct attributes* answer, const void* pointer) {
  if (!is_given((uintptr_t)pointer)) {
    return last_error = invalid_value;
  }
  *answer = (struct attributes){2, 0, (void*)pointer, NULL, 0, 0};
  return success;
}

/* Sets the error that a failed call of the program leaves behind. */
void fake_driver_fail(int error) { last_error = error; }

#elif defined(LEVEL_ZERO)

enum { uninitialized = 0x78000001, is_context = 0xd, are_properties = 0x17, device_memory = 2 };

struct description {
  int structure;
  const void* next;
  uint32_t flags;
};

struct properties {
  int structure;
  void* next;
  int type;
  uint64_t id, page_size;
};

static int driver, context;

int zeDriverGet(uint32_t* count, void** drivers) {
  if (given == 0) {
    return uninitialized;
  }
  *count = 1;
  drivers[0] = &driver;
  return success;
}

int zeContextCreate(void* of, const struct description* description, void** made) {
  if (of != &driver || description->structure != is_context) {
    return invalid_value;
  }
  *made = &context;
  return success;
}

/* Unknown memory is not an error. */
int zeMemGetAllocProperties(void* of, const void* pointer, struct properties* answer,
                            void** device) {
  if (of != &context || answer->structure != are_properties) {
    return invalid_value;
  }
  answer->type = is_given((uintptr_t)pointer) ? device_memory : 0;
  *device = answer->type ? &driver : NULL;
  return success;
}

#endif
