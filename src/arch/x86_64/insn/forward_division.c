/* SPDX-License-Identifier: Apache-2.0 */
/* Where an operand is not known, or the processor would fault, neither are the results. */
#include "insn/forward_values.h"

/* div of what fits the lower half, as compilers make it: the upper half is zero. */
static void divide(struct step *step)
{
	bool wide = step->operand[0].size == 64;
	ZydisRegister low = wide ? ZYDIS_REGISTER_RAX : ZYDIS_REGISTER_EAX;
	ZydisRegister high = wide ? ZYDIS_REGISTER_RDX : ZYDIS_REGISTER_EDX;
	struct value a = forward_read_register(step->forward, low),
		     upper = forward_read_register(step->forward, high), b = forward_get(step, 0);

	if (step->operand[0].size < 32 || !a.known || !b.known || !b.bits || !upper.known ||
	    upper.bits) {
		forward_forget_results(step);
		return;
	}
	step->forward->flags_known = false;
	forward_write_register(step->forward, low, value_known(a.bits / b.bits));
	forward_write_register(step->forward, high, value_known(a.bits % b.bits));
}

/* idiv of what cdq or cqo has extended, as compilers make it. */
static void divide_signed(struct step *step)
{
	unsigned size = step->operand[0].size;
	bool wide = size == 64;
	ZydisRegister low = wide ? ZYDIS_REGISTER_RAX : ZYDIS_REGISTER_EAX;
	ZydisRegister high = wide ? ZYDIS_REGISTER_RDX : ZYDIS_REGISTER_EDX;
	struct value a = forward_read_register(step->forward, low),
		     upper = forward_read_register(step->forward, high), b = forward_get(step, 0);
	int64_t dividend = (int64_t)value_extend(a.bits, size),
		divisor = (int64_t)value_extend(b.bits, size);

	if (size < 32 || !a.known || !b.known || !divisor || divisor == -1 || !upper.known ||
	    upper.bits != value_cut(dividend < 0 ? ~0ull : 0, size)) {
		forward_forget_results(step);
		return;
	}
	step->forward->flags_known = false;
	forward_write_register(step->forward, low,
			       value_known(value_cut((uint64_t)(dividend / divisor), size)));
	forward_write_register(step->forward, high,
			       value_known(value_cut((uint64_t)(dividend % divisor), size)));
}

/* cdq and cqo. */
static void extend_upper(struct step *step, unsigned size)
{
	bool wide = size == 64;
	struct value value = forward_read_register(step->forward,
						   wide ? ZYDIS_REGISTER_RAX : ZYDIS_REGISTER_EAX);

	value.bits = value_cut((int64_t)value_extend(value.bits, size) < 0 ? ~0ull : 0, size);
	forward_write_register(step->forward, wide ? ZYDIS_REGISTER_RDX : ZYDIS_REGISTER_EDX,
			       value);
}

bool forward_carry_out_division(struct step *step)
{
	switch (step->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_DIV:
		divide(step);
		return true;
	case ZYDIS_MNEMONIC_IDIV:
		divide_signed(step);
		return true;
	case ZYDIS_MNEMONIC_CDQ:
		extend_upper(step, 32);
		return true;
	case ZYDIS_MNEMONIC_CQO:
		extend_upper(step, 64);
		return true;
	default:
		return false;
	}
}
