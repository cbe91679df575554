// Private names hide shared ones and the other way around, in blocks, parameters and loops, and tags hide tags (C99 6.2.1).
#include <stddef.h>
#include "check.h"

shared int x[THREADS];
int y = 3;

static int parameter(int x) { return x + 1; }
static int prototype_only(int x, shared int *y);
static int prototype_only(int a, shared int *b) { return a + *b; }

struct record { int a, b, c, d; };
enum __attribute__((packed)) small { A_SMALL };
union either { char c[24]; long words[3]; };
struct node { int value; shared struct node *next; };
shared struct record records[2 * THREADS];
shared enum small small[2 * THREADS];
shared [2] union either unions[2 * THREADS];
shared struct node nodes[THREADS];

static void hidden_tags(void)
{
    int next = (MYTHREAD + 1) % THREADS;
    shared struct record *p = records;
    shared [2] union either *u = &unions[2 * next];
    shared enum small *e = &small[next];
    {
        struct record { char q; int c; };
        struct record mine = {'x', 3}, *at = &mine;
        enum small { HERE = 1 << 20 } inner = HERE;
        struct either { int only; } one = {4};
        static shared struct record placed[THREADS];
        CHECK_EQ(sizeof(*p), 4 * sizeof(int));
        p[next].c = 7 + next;
        records[next + THREADS].d = 8 + next;
        struct record *others = &mine;
        placed[next].c = at->c + others->c;
        e[THREADS] = A_SMALL + 1;
        *e = 1;
        CHECK_EQ(sizeof(*e), 1);
        CHECK_EQ(sizeof(enum small), sizeof inner);
        u->words[2] = 5;
        (u + 1)->c[23] = 6;
        CHECK_EQ(one.only, 4);
        {
            struct node;
            struct list { struct node *first; };
            struct node { struct list *in; shared struct node *far; char more[100]; };
            struct list list;
            struct node first = {&list, NULL, "more"};
            list.first = &first;
            CHECK_EQ(sizeof(struct node), 100 + sizeof(void *) + sizeof(shared void *) + 4);
            CHECK(list.first->in == &list && list.first->far == NULL);
            nodes[next].value = sizeof(*(shared struct node *)0) > 100;
            nodes[MYTHREAD].next = &nodes[next];
            CHECK(sizeof(nodes[0]) < 100);
        }
        upc_barrier;
        CHECK_EQ(placed[MYTHREAD].c, 6);
    }
    CHECK_EQ(records[MYTHREAD].c, 7 + MYTHREAD);
    CHECK_EQ(records[MYTHREAD + THREADS].d, 8 + MYTHREAD);
    CHECK_EQ(small[MYTHREAD], 1);
    CHECK_EQ(small[MYTHREAD + THREADS], 1);
    CHECK_EQ(unions[2 * MYTHREAD].words[2], 5);
    CHECK_EQ(unions[2 * MYTHREAD + 1].c[23], 6);
    CHECK_EQ(nodes[MYTHREAD].value, 1);
    CHECK_EQ(nodes[MYTHREAD].next->value, 1);
}

int main(void)
{
    hidden_tags();
    x[MYTHREAD] = 10;
    upc_barrier;
    CHECK_EQ(parameter(4), 5);
    CHECK_EQ(prototype_only(1, &x[0]), 11);
    {
        int x = y;
        static shared int y;
        CHECK_EQ(x, 3);
        CHECK_EQ(y, 0);
        for (int y = 0; y < 2; y++)
            x += y;
        CHECK_EQ(x, 4);
    }
    CHECK_EQ(x[0], 10);
    struct x { int x; } z = {x[0]};
    CHECK_EQ(z.x, 10);
    return check_failures;
}
