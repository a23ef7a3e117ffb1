/* SPDX-License-Identifier: Apache-2.0 */
/* As atomics.c. */
#include <atomic>
#include <cstdlib>
#include <memory>
#include <vector>

struct node {
	node *next;
	int value;
	std::atomic<int> references;
	std::atomic<node *> peer;
	std::vector<int> numbers;
};

int counter;
std::atomic<long> total;
std::atomic_flag flag = ATOMIC_FLAG_INIT;

template <class T> static T relaxed(const std::atomic<T> &place)
{
	return place.load(std::memory_order_relaxed); /* atomic: */
}

__attribute__((noinline)) int plain_accesses(node *n, int k)
{
	counter += k;			 /* plain: */
	n->value = k;			 /* plain: */
	n->next->value++;		 /* plain: */
	return n->next->value + counter; /* plain: */
}

__attribute__((noinline)) int atomics(node *n, int k)
{
	int sum = n->references.load(std::memory_order_relaxed); /* atomic: */

	n->references.store(k, std::memory_order_relaxed); /* atomic: */
	sum += n->references;				   /* atomic: */
	n->references = 3;				   /* atomic: */
	n->references++;				   /* atomic: */
	n->peer = n->next;				   /* atomic: */
	sum += (int)relaxed(total);			   /* atomic: */
	sum += relaxed(n->references);			   /* atomic: */
	if (n->peer.load() == nullptr)			   /* atomic: */
		sum++;
	flag.clear();					    /* atomic: */
	sum += __atomic_load_n(&counter, __ATOMIC_RELAXED); /* atomic: */
	return sum;
}

int main()
{
	node *n = new node{};

	n->next = new node{};
	return plain_accesses(n, 1) + atomics(n, 2);
}
