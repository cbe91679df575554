// SPDX-License-Identifier: BSD-3-Clause
/* How an exported entry point reaches its code: by a jump through a slot of a table.
 *
 * The dynamic linker binds a preload object before the object can find out whether it fits the
 * program's MPI. If it does not, it must not even touch the arguments (a handle has four bytes in
 * one MPI and eight in another), so a wrapper in C cannot pass a call on. A jump can: in that case
 * next.cpp points the slots at the next library's functions. The same slots serve programs that
 * load their MPI late (Python): until then they point to stubs that look for the MPI first. On
 * other processors the wrappers themselves have the exported names, and an object that does not
 * fit can only warn. */
#ifndef NEARCACHE_TRAMPOLINE_H
#define NEARCACHE_TRAMPOLINE_H

#if defined(__x86_64__) || defined(__aarch64__)
#define NEARCACHE_TRAMPOLINES 1
#else
#define NEARCACHE_TRAMPOLINES 0
#endif

/* Assembler macros for trampolines.S. */
/* clang-format off */
#ifdef __ASSEMBLER__
#if defined(__x86_64__)
#define ENTER endbr64
#define JUMP(i) jmp *nearcache_slots + 8 * i(%rip)
#define LAZY(i) .Llazy##i: endbr64; movl $i, %r11d; jmp .Llazy
/* Saves the six argument registers; arguments on the stack stay where they are. */
#define LAZY_COMMON .Llazy: \
  pushq %rdi; pushq %rsi; pushq %rdx; pushq %rcx; pushq %r8; pushq %r9; subq $8, %rsp; \
  movl %r11d, %edi; call nearcache_resolve_entry; \
  addq $8, %rsp; popq %r9; popq %r8; popq %rcx; popq %rdx; popq %rsi; popq %rdi; jmp *%rax
#define FUNCTION %function
#else
#define ENTER hint 34
#define JUMP(i) adrp x16, nearcache_slots + 8 * i; ldr x16, [x16, :lo12:nearcache_slots + 8 * i]; br x16
#define LAZY(i) .Llazy##i: hint 34; mov w16, i; b .Llazy
#define LAZY_COMMON .Llazy: \
  stp x29, x30, [sp, -80]!; stp x0, x1, [sp, 16]; stp x2, x3, [sp, 32]; stp x4, x5, [sp, 48]; \
  stp x6, x7, [sp, 64]; mov w0, w16; bl nearcache_resolve_entry; mov x16, x0; ldp x0, x1, [sp, 16]; \
  ldp x2, x3, [sp, 32]; ldp x4, x5, [sp, 48]; ldp x6, x7, [sp, 64]; ldp x29, x30, [sp], 80; br x16
#define FUNCTION %function
#endif
#define TRAMPOLINES_BEGIN .text; .hidden nearcache_resolve_entry
#define TRAMPOLINE(i, name) .p2align 4; .globl name; .type name, FUNCTION; name: ENTER; JUMP(i); .size name, . - name
#define SLOTS_BEGIN .section .data.rel, "aw"; .p2align 6; .globl nearcache_slots; .hidden nearcache_slots; nearcache_slots:
#define SLOT(target) .hidden target; .quad target
#define LAZY_BEGIN .text; LAZY_COMMON
#define LAZY_TABLE_BEGIN .section .data.rel.ro, "aw"; .p2align 6; .globl nearcache_lazy; .hidden nearcache_lazy; nearcache_lazy:
#define LAZY_ADDRESS(i) .quad .Llazy##i
#define TRAMPOLINES_END .section .note.GNU-stack, "", %progbits
#endif

#endif
