#ifndef MANY_FILES_H
#define MANY_FILES_H
#include <upc.h>

struct item {
  int value;
  shared[] struct item* next;
};
extern shared int pushes[THREADS];

#define ITEM(thread, i) (10 * (1 + (thread)) + (i))
static inline int value_of(shared[] struct item* p) { return p->value; }

shared[] struct item* pushed(shared[] struct item* list, int value);
int sum_of_list(shared[] struct item* list);
int released(shared[] struct item* list);
#endif
