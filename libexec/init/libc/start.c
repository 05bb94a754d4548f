/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How agentbox-init starts when it brings its own C library (x86-64): apply
 * the relocations, set the stack canary, call main. The system's static libc
 * asks the processor for its features some thirty times before main; in a
 * virtual machine each cpuid leaves the guest, and the sum was a fifth of a
 * cold box (0.55 ms of 2.9 measured). Nothing here needs those answers.
 *
 * Refuses: to be linked into anything but agentbox-init; it knows no
 * constructors, no threads, no locale. Spec: System V ABI x86-64 section
 * 3.4.1 (initial stack), ELF gABI chapter 5.
 */
#include "config.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libc/raw.h"

#define ARCH_SET_FS 0x1002 /* asm/prctl.h */

extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));

/* Where %fs points: the ABI wants its own address first, gcc the canary. */
static struct {
	void *self;
	uint64_t unused[4];
	uint64_t canary; /* %fs:0x28 */
} thread_block __attribute__((aligned(64)));

char **environ;
static size_t page_size = 4096;

int main(void);
__attribute__((used)) _Noreturn void init_start(const uintptr_t *stack);

__asm__(".text\n"
	".global _start\n"
	".type _start,@function\n"
	"_start:\n"
	"	xor %ebp,%ebp\n"
	"	mov %rsp,%rdi\n"
	"	and $-16,%rsp\n"
	"	call init_start\n"
	"	hlt\n");

/* A static PIE has relative relocations and nothing else. */
__attribute__((no_stack_protector)) static void relocate(uintptr_t base,
							 const Elf64_Dyn *d)
{
	const Elf64_Rela *rela = NULL;
	size_t size = 0;

	for (; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_RELA)
			rela = (const Elf64_Rela *)(base + d->d_un.d_ptr);
		if (d->d_tag == DT_RELASZ)
			size = d->d_un.d_val;
	}
	for (; rela && size >= sizeof(*rela); size -= sizeof(*rela), rela++) {
		if (ELF64_R_TYPE(rela->r_info) == R_X86_64_RELATIVE)
			*(uintptr_t *)(base + rela->r_offset) =
				base + (uintptr_t)rela->r_addend;
	}
}

/* What was relocated and is constant becomes read-only again. */
static void protect_relro(uintptr_t from, size_t size)
{
	uintptr_t to = (from + size) & ~(page_size - 1);

	from &= ~(page_size - 1);
	if (to > from)
		(void)init_raw(SYS_mprotect, (long)from, (long)(to - from),
			       PROT_READ, 0, 0, 0);
}

/*
 * The program headers tell what there is to do; nothing for a program that
 * is linked where it runs.
 */
__attribute__((no_stack_protector)) static void each_header(bool is_first)
{
	uintptr_t base = (uintptr_t)&__ehdr_start;
	const Elf64_Phdr *p = (const Elf64_Phdr *)(base + __ehdr_start.e_phoff);

	if (__ehdr_start.e_type != ET_DYN)
		return;
	for (unsigned i = 0; i < __ehdr_start.e_phnum; i++, p++) {
		if (is_first && p->p_type == PT_DYNAMIC)
			relocate(base, (const Elf64_Dyn *)(base + p->p_vaddr));
		if (!is_first && p->p_type == PT_GNU_RELRO)
			protect_relro(base + p->p_vaddr, p->p_memsz);
	}
}

__attribute__((no_stack_protector)) _Noreturn void
init_start(const uintptr_t *stack)
{
	const uintptr_t *at = stack + 1 + stack[0] + 1; /* past argv */

	each_header(true);
	while (*at)
		at++;
	for (at++; at[0] != AT_NULL; at += 2) {
		if (at[0] == AT_RANDOM)
			thread_block.canary =
				*(const uint64_t *)at[1] & ~0xffull;
		if (at[0] == AT_PAGESZ)
			page_size = at[1];
	}
	thread_block.self = &thread_block;
	(void)init_raw(SYS_arch_prctl, ARCH_SET_FS, (long)&thread_block, 0, 0,
		       0, 0);
	each_header(false);
	init_raw(SYS_exit_group, main(), 0, 0, 0, 0, 0);
	for (;;)
		;
}

long sysconf(int name)
{
	(void)name; /* the one question asked here is _SC_PAGESIZE */
	return (long)page_size;
}
