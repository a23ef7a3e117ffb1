/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/values.h"

void forward_know_register(struct insn_forward *forward, int number, uint64_t bits)
{
	if (number < 0)
		return;
	forward->general[number] = bits;
	forward->known |= (uint16_t)(1u << number);
}

void forward_forget_register(struct insn_forward *forward, int number)
{
	if (number >= 0)
		forward->known &= (uint16_t) ~(1u << number);
}

/* The last write that touches these bytes decides; one that covers a part of them, or of others
 * before it, leaves them unknown. */
struct value forward_read_memory(const struct insn_forward *forward, uint64_t address,
				 unsigned length)
{
	unsigned count = forward->writes < INSN_FORWARD_WRITES ? forward->writes
							       : INSN_FORWARD_WRITES;
	uint64_t bits = 0;

	if (!length || length > 8)
		return value_unknown;
	for (unsigned i = 1; i <= count; i++) {
		const struct insn_forward_write *write =
			&forward->write[(forward->writes - i) % INSN_FORWARD_WRITES];

		if (address - write->address >= write->length && write->address - address >= length)
			continue;
		if (!write->known || address < write->address ||
		    address - write->address + length > write->length)
			return value_unknown;
		return value_known(
			value_cut(write->bits >> 8 * (address - write->address), 8 * length));
	}
	return forward->read(forward->context, address, &bits, length) ? value_unknown
								       : value_known(bits);
}

void forward_write_memory(struct insn_forward *forward, uint64_t address, unsigned length,
			  struct value value)
{
	forward->write[forward->writes++ % INSN_FORWARD_WRITES] = (struct insn_forward_write){
		address, value.bits, length, value.known && length <= 8};
}
