/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statements below atomic directives, and their neighbours. "plain:" marks lines with an access
 * that must come out as plain; "atomic:" marks lines where nothing may. Compiled as C and as C++.
 */
#define ATOMIC_UPDATE _Pragma("omp atomic")
#define DIRECTIVE(text) _Pragma(#text)
#define ATOMIC_CAPTURE DIRECTIVE(omp atomic capture)

int x, y, other, seen;
double real;
struct {
	int count, sum;
} pair;
static int array[16];

__attribute__((noinline)) int forms(int n)
{
	int v = 0;

#pragma omp atomic
	x++;	 /* atomic: */
	other++; /* plain: */
#pragma omp atomic read
	v = y;	  /* atomic: */
	seen = v; /* plain: */
#pragma omp atomic write
	y = n;	   /* atomic: */
	other = n; /* plain: */
#pragma omp atomic update
	x = x * n;  /* atomic: */
	other += 5; /* plain: */
#pragma omp atomic capture
	v = x--;  /* atomic: */
	seen = v; /* plain: */
#pragma omp atomic capture
	{
		v = x;	/* atomic: */
		x += n; /* atomic: */
	}
	seen = v; /* plain: */
#pragma omp atomic
	real += 1.5;	  /* atomic: */
	return v + other; /* plain: */
}

__attribute__((noinline)) int clauses(int n)
{
	int v;

#pragma omp atomic seq_cst
	pair.count += n; /* atomic: */
	pair.sum += n;	 /* plain: */
#pragma omp atomic read acquire
	v = y; /* atomic: */
#pragma omp atomic hint(1) write, release
	y = v;	  /* atomic: */
	seen = n; /* plain: */
	/* clang-format off */
#	pragma   omp \
	atomic    \
	relaxed   \
	capture
	/* clang-format on */
	v = ++x;	   /* atomic: */
	array[n & 15] = v; /* plain: */
	return v;
}

#ifndef __clang__
__attribute__((noinline)) int compared(int n)
{
	int v;

#pragma omp atomic compare
	if (x == n) {  /* atomic: */
		x = 5; /* atomic: */
	}
	other = n; /* plain: */
#pragma omp atomic compare
	y = y < n ? n : y; /* atomic: */
#pragma omp atomic compare capture
	{
		v = x;	       /* atomic: */
		if (x == n) {  /* atomic: */
			x = 7; /* atomic: */
		}
	}
	seen = v; /* plain: */
#pragma omp atomic capture compare
	if (y == n) {  /* atomic: */
		y = 1; /* atomic: */
	} else {
		v = y; /* atomic: */
	}
	seen = v; /* plain: */
	return v;
}
#else
#define compared clauses
#endif

__attribute__((noinline)) void between(int n)
{
#pragma omp atomic /* a comment \
		      of two lines */

	/* and another { one } ; */

	x	   /* atomic: */
		+= /* atomic: */
		n; /* atomic: */
#ifndef NO_ATOMICS
#pragma omp atomic
#endif
	x += n;	   /* atomic: */
	other = n; /* plain: */
#pragma omp atomic
#ifdef NO_ATOMICS
	y += n + 1;
#else
	y += n; /* atomic: */
#endif
	other += n; /* plain: */
	if (n > 3)
#pragma omp atomic
		x += n; /* atomic: */
	else
		other = 2; /* plain: */
	for (int i = 0; i < n; i++) {
#pragma omp atomic
		array[i & 15]++;       /* atomic: */
		array[(i + 1) & 15]++; /* plain: */
	}
}

__attribute__((noinline)) int operators(int n)
{
	int v;

	_Pragma("omp atomic") x++;    /* atomic: */
	_Pragma(" omp  atomic write") /* atomic: */
		y = n;		      /* atomic: */
	seen = n;		      /* plain: */
	ATOMIC_UPDATE		      /* atomic: */
		x -= n;		      /* atomic: */
	other = n;		      /* plain: */
	_Pragma("omp atomic capture")
	{
		v = x;	/* atomic: */
		x -= n; /* atomic: */
	}
	ATOMIC_CAPTURE
	{
		v = y; /* atomic: */
		y = n; /* atomic: */
	}
	seen = v;	  /* plain: */
	return v + other; /* plain: */
}

#ifdef _OPENACC
__attribute__((noinline)) int accelerated(int n)
{
	int v;

#pragma acc atomic update
	x += n;	    /* atomic: */
	other += n; /* plain: */
#pragma acc atomic read
	v = y; /* atomic: */
#pragma acc atomic write
	y = n;	  /* atomic: */
	seen = n; /* plain: */
#pragma acc atomic capture
	{
		v = x; /* atomic: */
		x++;   /* atomic: */
	}
	return v + other; /* plain: */
}
#else
#define accelerated forms
#endif

__attribute__((noinline)) int long_statement(int n)
{
	return n + other +   /* plain: */
	       n * n + seen; /* plain: */
}

/* Loads that have no line of their own: the line is that of the code before them, or behind. */
__attribute__((noinline)) void heads(int n, double e, double *lent)
{
	for (int i = 0; i < n; i++) { /* atomic: */
#pragma omp atomic
		real *= e; /* atomic: */
	}
	for (int i = 0; i < n; i++) { /* atomic: */
#pragma omp atomic
		lent[i & 3] -= e; /* atomic: */
	}
	while (n--) { /* atomic: */
#pragma omp atomic
		real /= e; /* atomic: */
	}
#ifndef __clang__
	for (int i = 0; i < n; i++) { /* atomic: */
#pragma omp atomic compare
		x = x < n ? n : x; /* atomic: */
		other += i;	   /* plain: */
	}
#endif
}

__attribute__((noinline)) long sums(int n)
{
	long sum = 0;

	for (int i = 0; i < n; i++) {
		int v;
#pragma omp atomic read
		v = y;	      /* atomic: */
		sum += v;     /* atomic: */
		sum ^= other; /* plain: */
	}
	return sum;
}

static inline void scale(double *to, double by)
{
#pragma omp atomic
	*to *= by; /* atomic: */
}

__attribute__((noinline)) void inlined(int n)
{
	for (int i = 0; i < n; i++) { /* atomic: */
		scale(&real, n);
		seen = i; /* plain: */
	}
}

double total, product;

/* The shared variable is updated by what has no line of its own, or the directive's. */
__attribute__((noinline)) void reductions(int n)
{
#pragma omp parallel for reduction(+ : total)
	for (int i = 0; i < n; i++) {
		total += array[i & 15]; /* atomic: */
		other = n;		/* plain: */
	}
	total /= 2; /* plain: */
#pragma omp parallel
	{
#pragma omp for collapse(2) reduction(* : product) nowait
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n; j++)
				product *= array[j & 15]; /* atomic: */
		if (product > 3.0)			  /* plain: */
			other = 1;			  /* plain: */
	}
}

static inline double half(int i)
{
	return array[i & 15] * 0.5;
}

__attribute__((noinline)) double by_operator(int n)
{
	double sum = 0;

	_Pragma("omp parallel for reduction(+ : sum)") /* doubted: */
		for (int i = 0; i < n; i++)	       /* doubted: */
		sum += half(i);			       /* doubted: */
	return sum;
}

int main(void)
{
	reductions(3);
	by_operator(4);
	heads(3, 1.5, &real);
	inlined(3);
	between(3);
	return long_statement(7) + (int)sums(3) + forms(1) + clauses(2) + operators(4) +
	       compared(6) + accelerated(5);
}
