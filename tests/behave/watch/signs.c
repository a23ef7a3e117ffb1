/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of signed and unsigned types, however those are spelled: each is set to -1 once, and
 * before to 1, by its address, since a compiler would make one store of several. */
#include <stdatomic.h>
#include <sys/types.h>
#include <uchar.h>

typedef int interval_t;
typedef unsigned int interval_unsigned_t;
enum side { LEFT = -1, RIGHT = 1 };
enum shade { LIGHT, DARK };

volatile int volatile_int;
_Atomic int atomic_int_;
const int *volatile pointer;
volatile pid_t process;
volatile interval_t interval;
volatile enum side side;
struct {
	volatile short inner;
} wrapped;
volatile signed char array[2];

interval_unsigned_t interval_unsigned;
char16_t character;
enum shade shade;

int main(void)
{
	volatile_int = 1;
	volatile_int = -1;
	atomic_store(&atomic_int_, 1);
	atomic_store(&atomic_int_, -1);
	process = 1;
	process = -1;
	interval = 1;
	interval = -1;
	side = RIGHT;
	side = LEFT;
	wrapped.inner = 1;
	wrapped.inner = -1;
	array[0] = 1;
	array[0] = -1;
	interval_unsigned = (interval_unsigned_t)-1;
	character = 0xffff;
	shade = (enum shade) - 1;
	pointer = (const int *)-1;
	return 0;
}
