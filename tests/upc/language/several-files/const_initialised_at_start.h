#ifndef PLACES
#define PLACES
struct places {
  shared int* where;
  int n;
};
typedef const struct places constant_places;
extern const struct single {
  shared int* one;
} single;
extern shared int x;
int in_other_file(void);
#endif
extern shared int* const place;
extern const struct places places[2] __attribute__((aligned(64)));
extern const int processes;
extern constant_places more __attribute__((aligned(32)));
