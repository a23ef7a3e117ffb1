/* SPDX-License-Identifier: Apache-2.0 */
/* An access that a thread makes, as tools are told of it (<trapline/tool.h>). */
#ifndef TRAPLINE_ACCESS_H
#define TRAPLINE_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <trapline/event.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How the instruction makes its access, beside TL_READ, TL_WRITE and so on. */
#define TL_TRAIT_PLAIN 0x1u	/* one mov to or from a general register, or a scalar one */
#define TL_TRAIT_STRING 0x2u	/* movs, stos, cmps … */
#define TL_TRAIT_VECTOR 0x4u	/* more than 8 bytes, or elements of a vector */
#define TL_TRAIT_UNALIGNED 0x8u /* not naturally aligned: the CPU may split it */
#define TL_TRAIT_UPDATE 0x10u	/* a read-modify-write without LOCK */
#define TL_TRAIT_STACK 0x20u	/* push, pop, call, ret */
/* A string function of the C library loads more at a time than it may be asked about, and what it
 * is asked about could not be told. */
#define TL_TRAIT_UNBOUNDED 0x40u
/* It loads what is watched although it is not asked about that: in the language's sense it is not
 * accessed. Of hits of watches that arm() made; others are not told. With TL_TRAIT_BOUNDED the
 * access is to the other bytes that the load was asked about: of several watches that one
 * instruction trips the kernel tells one. */
#define TL_TRAIT_BEYOND 0x80u
/* Of the thread's own stack, from the red zone up. Samples of it: to tools that want them. */
#define TL_TRAIT_OWN_STACK 0x100u
/* No instruction that may have run touched the watched bytes: one with a mask trips where its mask
 * is clear, and so does the kernel where its accesses are not told. */
#define TL_TRAIT_UNEXPLAINED 0x200u
/* Of a sample: the thread was before it, and comes to it unless a branch that was not foretold or
 * another thread's write leads elsewhere. */
#define TL_TRAIT_FORESEEN 0x400u

/* A conditional move loads it and leaves it, as its condition does not hold: compilers load what
 * the program does not, and in the language's sense it is not accessed. */
#define TL_TRAIT_NOT_TAKEN 0x800u

/* Of a function of the C library: it was asked about every byte of the access, as its arguments
 * tell, or it never loads more than it is asked about (memcpy(), memmove(), mempcpy()). */
#define TL_TRAIT_BOUNDED 0x1000u

/* Of what is reported: only what the access left was seen. Its thread, `pc` and stack are those of
 * the allocation of the block that it was made to. */
#define TL_TRAIT_UNSEEN 0x2000u

/* An atomic operation that may leave the value as it was, as one does that takes a lock which is
 * held already: CMPXCHG, XCHG, BTS, BTR, OR, AND. */
#define TL_TRAIT_ATTEMPT 0x4000u

/* Of one that began an update which was lost (`changed` of struct tl_pair): its function is one
 * that no compiler has optimised, as far as its beginning shows. */
#define TL_TRAIT_UNOPTIMISED 0x8000u

/* With TL_TRAIT_VECTOR: one move of 16 bytes that has to be aligned, of which compilers make atomic
 * accesses, too (MOVDQA, MOVAPS, MOVAPD and those of AVX). */
#define TL_TRAIT_WHOLE_VECTOR 0x10000u

/* Of a pair's load: of what the other access wrote nothing is used, as the code behind it tells. A
 * mask leaves it out, a conditional move takes another value, or a vector's elements are put in
 * another order without it; of a part of a vector also where the code does not tell. And of
 * elements of a vector, loaded or stored, that a mask in another vector chooses. */
#define TL_TRAIT_DISCARDED 0x20000u

/* A system call read this and sent it by a pipe, a socket or the like, before it returned and the
 * thread was held: who received it may have gone on meanwhile. */
#define TL_TRAIT_SENT 0x40000u

/* A load that is an operand of an instruction which computes with it (CMP, TEST, ADD). */
#define TL_TRAIT_OPERAND 0x80000u

/* Of a system call: what it passed on or received, as its arguments and its result tell. Not what
 * describes that: struct iovec, struct msghdr, an address, ancillary data. */
#define TL_TRAIT_CONTENT 0x100000u

/* A store of 8 bytes of a pointer to the virtual functions of a C++ class, which takes the place of
 * no other class's as far as is known: the destructors of an object begin with one, and change
 * nothing but where a part of it is of another class. */
#define TL_TRAIT_CLASS_KEPT 0x200000u

/* A load that overwrote the register which its address came from: it did read some of the watched
 * bytes, and how many at once is known, but not where it began. Its address is the likely one, and
 * the access is TL_GUESSED but in a pair with one of all watched bytes. */
#define TL_TRAIT_UNPLACED 0x400000u

/* Of a load that overwrites its own address: what it has loaded stands at `loaded_from` alone,
 * which is not aligned. `address` is the aligned one, since another thread may have changed the
 * memory meanwhile. */
#define TL_TRAIT_REALIGNED 0x800000u

struct tl_stack; /* opaque: what was noted of the thread's stack */

/* Of the thread, as they were noted: of a sample, some instructions before the access at most; of a
 * hit of data after the access, of a hit of code or a fault before it. */
struct tl_registers {
	uint64_t general[16]; /* rax rcx rdx rbx rsp rbp rsi rdi r8 … r15 */
	uint64_t pc;	      /* the instruction that comes next */
	uint64_t flags;
	uint64_t fs_base; /* 0: not known */
};

struct tl_access {
	size_t size;
	pid_t pid;
	pid_t tid;	   /* 0: could not be asked for (a seccomp filter) */
	uint64_t identity; /* tells threads of one process apart, also without a tid */
	uint64_t pc;	   /* the instruction that makes the access */
	uint64_t address;  /* first byte it touches */
	uint64_t length;   /* bytes it touches; of one element for string instructions */
	unsigned access;   /* TL_READ | TL_WRITE, TL_ATOMIC, TL_KERNEL, TL_GUESSED */
	unsigned traits;   /* TL_TRAIT_… */
	uint64_t time;	   /* CLOCK_MONOTONIC, ns */
	bool before;	   /* the thread was held before the access, not after it */
	bool value_known;  /* `value`: the first 8 bytes from `address`, after the access */
	uint64_t value;
	const struct tl_stack *stack;	      /* NULL for samples */
	const struct tl_registers *registers; /* NULL: not known */
	uint64_t cookie; /* of a hit of a watch that arm() made: the watch's; else 0 */
	/* Its number, of a system call that has made the access (TL_KERNEL), where it can be told.
	 */
	bool call_known;
	int call;
	/* Of a hit of a watch that arm() made: between the last one that was told of the process
	 * and this one others were made, which could not be recorded. */
	bool after_loss;
	/* Of such a hit, of data: what the watch watches, and what was there after the access.
	 * Length 0: not known. */
	unsigned watched_length;
	uint64_t watched_address, watched_value;
	uint64_t loaded_from; /* with TL_TRAIT_REALIGNED */
	/* Of a hit of a watch that arm() made: another watch of the tool had ended by itself when
	 * this one was made, or may have, and unwatched() has not been told so yet. What came to
	 * that one since is missing. */
	bool others_ended;
};

#ifdef __cplusplus
}
#endif

#endif
