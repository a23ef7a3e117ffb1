/* SPDX-License-Identifier: Apache-2.0 */
/* Where an operand is not known, neither are the results nor the flags. */
#include "insn/forward_values.h"

static void forget(struct step *step, bool flags)
{
	forward_set(step, 0, value_unknown);
	if (flags)
		step->forward->flags_known = false;
}

/* bsf, bsr, tzcnt, lzcnt, popcnt. The older two leave their destination where there is no bit, and
 * set the zero flag for the source; the others have it of the result, and the carry of the source.
 */
static void search(struct step *step)
{
	struct insn_forward *forward = step->forward;
	ZydisMnemonic mnemonic = step->instruction.mnemonic;
	unsigned size = step->operand[0].size;
	struct value from = forward_get(step, 1);
	bool older = mnemonic == ZYDIS_MNEMONIC_BSF || mnemonic == ZYDIS_MNEMONIC_BSR;
	uint64_t result = size;

	if (!from.known || (older && !from.bits)) {
		forget(step, true);
		forward->flags_known = from.known;
		forward_set_flags(forward, 0, size);
		forward->flags_known = from.known;
		return;
	}
	if (mnemonic == ZYDIS_MNEMONIC_POPCNT)
		result = (uint64_t)__builtin_popcountll(from.bits);
	else if (from.bits && (mnemonic == ZYDIS_MNEMONIC_BSF || mnemonic == ZYDIS_MNEMONIC_TZCNT))
		result = (uint64_t)__builtin_ctzll(from.bits);
	else if (from.bits && mnemonic == ZYDIS_MNEMONIC_BSR)
		result = 63 - (uint64_t)__builtin_clzll(from.bits);
	else if (from.bits)
		result = (uint64_t)__builtin_clzll(from.bits) - (64 - size);
	forward_set_flags(forward, older ? from.bits : result, size);
	forward->carry = !older && mnemonic != ZYDIS_MNEMONIC_POPCNT && !from.bits;
	forward_set(step, 0, value_known(result));
}

/* bt, bts, btr, btc. In memory a register may name a bit far away. */
static void test_bit(struct step *step)
{
	struct insn_forward *forward = step->forward;
	ZydisMnemonic mnemonic = step->instruction.mnemonic;
	unsigned size = step->operand[0].size;
	struct value from = forward_get(step, 0), which = forward_get(step, 1);
	bool far = step->operand[0].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		   step->operand[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE;
	uint64_t bit = 1ull << (which.bits & (size - 1));

	if (far || !from.known || !which.known) {
		forward->flags_known = false;
		if (mnemonic != ZYDIS_MNEMONIC_BT)
			forward_set(step, 0, value_unknown);
		return;
	}
	/* The zero flag stays, the others are not defined. */
	forward->carry = from.bits & bit;
	if (mnemonic == ZYDIS_MNEMONIC_BTS)
		forward_set(step, 0, value_known(from.bits | bit));
	else if (mnemonic == ZYDIS_MNEMONIC_BTR)
		forward_set(step, 0, value_known(from.bits & ~bit));
	else if (mnemonic == ZYDIS_MNEMONIC_BTC)
		forward_set(step, 0, value_known(from.bits ^ bit));
}

/* They leave all flags but the carry and the overflow, which compilers do not use. */
static void rotate(struct step *step, bool left)
{
	unsigned last = step->instruction.operand_count_visible - 1u, size = step->operand[0].size;
	struct value from = forward_get(step, last - 1), by = forward_get(step, last);
	unsigned count = (unsigned)by.bits & (size == 64 ? 63 : 31);
	uint64_t bits = value_cut(from.bits, size);

	if (!from.known || !by.known) {
		forget(step, step->instruction.mnemonic != ZYDIS_MNEMONIC_RORX);
		return;
	}
	count %= size;
	if (!left)
		count = (size - count) % size;
	if (count)
		bits = value_cut(bits << count | bits >> (size - count), size);
	forward_set(step, 0, value_known(bits));
}

/* shlx, shrx, sarx: no flags. */
static void shift_without_flags(struct step *step)
{
	unsigned size = step->operand[0].size;
	struct value from = forward_get(step, 1), by = forward_get(step, 2);
	unsigned count = (unsigned)by.bits & (size == 64 ? 63 : 31);
	uint64_t bits;

	if (!from.known || !by.known) {
		forget(step, false);
		return;
	}
	switch (step->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_SHLX:
		bits = value_cut(from.bits << count, size);
		break;
	case ZYDIS_MNEMONIC_SHRX:
		bits = from.bits >> count;
		break;
	default:
		bits = value_cut((uint64_t)((int64_t)value_extend(from.bits, size) >> count), size);
		break;
	}
	forward_set(step, 0, value_known(bits));
}

/* andn, bzhi */
static void mask(struct step *step)
{
	unsigned size = step->operand[0].size;
	struct value a = forward_get(step, 1), b = forward_get(step, 2);
	unsigned count = (unsigned)b.bits & 0xff;
	uint64_t bits;

	if (!a.known || !b.known) {
		forget(step, true);
		return;
	}
	bits = step->instruction.mnemonic == ZYDIS_MNEMONIC_ANDN ? value_cut(~a.bits & b.bits, size)
	       : count < size					 ? value_cut(a.bits, count)
								 : a.bits;
	forward_set_flags(step->forward, bits, size);
	forward_set(step, 0, value_known(bits));
}

static void negate(struct step *step)
{
	unsigned size = step->operand[0].size;
	struct value from = forward_get(step, 0);

	if (!from.known) {
		forget(step, true);
		return;
	}
	forward_set_flags(step->forward, value_cut(0 - from.bits, size), size);
	step->forward->carry = from.bits;
	step->forward->overflow = from.bits && from.bits == value_cut(0 - from.bits, size);
	forward_set(step, 0, value_known(value_cut(0 - from.bits, size)));
}

/* adc, sbb. Of the flags those that compilers use: zero, sign and carry. */
static void add_carry(struct step *step, bool subtracts)
{
	struct insn_forward *forward = step->forward;
	unsigned size = step->operand[0].size;
	struct value a = forward_get(step, 0), b = forward_get(step, 1);
	bool same = subtracts && step->operand[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    step->operand[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    step->operand[0].reg.value == step->operand[1].reg.value;
	uint64_t bits, carry = forward->carry;
	unsigned __int128 sum;

	if (same)
		a = b = value_known(0);
	if (!a.known || !b.known || !forward->flags_known) {
		forget(step, true);
		return;
	}
	a.bits = value_cut(a.bits, size);
	b.bits = value_cut(b.bits, size);
	sum = subtracts ? (unsigned __int128)a.bits - b.bits - carry
			: (unsigned __int128)a.bits + b.bits + carry;
	bits = value_cut((uint64_t)sum, size);
	forward_set_flags(forward, bits, size);
	forward->carry = sum >> size & 1;
	forward->overflow =
		((subtracts ? a.bits ^ b.bits : ~(a.bits ^ b.bits)) & (a.bits ^ bits)) >>
			(size - 1) &
		1;
	forward_set(step, 0, value_known(bits));
}

static void reverse(struct step *step)
{
	unsigned size = step->operand[0].size;
	struct value from = forward_get(step, 0);

	from.bits = __builtin_bswap64(from.bits) >> (64 - size);
	forward_set(step, 0, from);
}

/* mul and imul of the accumulator: the upper half goes to rdx. */
static bool multiply_wide(struct step *step, bool is_signed)
{
	bool wide = step->operand[0].size == 64;
	ZydisRegister low = wide ? ZYDIS_REGISTER_RAX : ZYDIS_REGISTER_EAX;
	ZydisRegister high = wide ? ZYDIS_REGISTER_RDX : ZYDIS_REGISTER_EDX;
	struct value a = forward_read_register(step->forward, low), b = forward_get(step, 0);
	unsigned size = step->operand[0].size;
	unsigned __int128 product;

	if (size < 32 || !a.known || !b.known)
		return false;
	product = is_signed ? (unsigned __int128)((__int128)(int64_t)value_extend(a.bits, size) *
						  (int64_t)value_extend(b.bits, size))
			    : (unsigned __int128)a.bits * b.bits;
	step->forward->flags_known = false;
	forward_write_register(step->forward, low, value_known(value_cut((uint64_t)product, size)));
	forward_write_register(step->forward, high,
			       value_known(value_cut((uint64_t)(product >> size), size)));
	return true;
}

/* cbw, cwde; cdq, cqo: into rdx. */
static void spread_sign(struct step *step, ZydisRegister from, ZydisRegister to, bool upper)
{
	struct value value = forward_read_register(step->forward, from);
	unsigned size = ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, from);

	value.bits = value_extend(value.bits, size);
	if (upper)
		value.bits = -(value.bits >> 63);
	value.bits = value_cut(value.bits, ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, to));
	forward_write_register(step->forward, to, value);
}

static bool carry_out_sum(struct step *step)
{
	switch (step->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_NEG:
		negate(step);
		return true;
	case ZYDIS_MNEMONIC_ADC:
	case ZYDIS_MNEMONIC_SBB:
		add_carry(step, step->instruction.mnemonic == ZYDIS_MNEMONIC_SBB);
		return true;
	case ZYDIS_MNEMONIC_MUL:
		return multiply_wide(step, false);
	case ZYDIS_MNEMONIC_IMUL:
		return step->instruction.operand_count_visible == 1 && multiply_wide(step, true);
	case ZYDIS_MNEMONIC_CBW:
		spread_sign(step, ZYDIS_REGISTER_AL, ZYDIS_REGISTER_AX, false);
		return true;
	case ZYDIS_MNEMONIC_CWDE:
		spread_sign(step, ZYDIS_REGISTER_AX, ZYDIS_REGISTER_EAX, false);
		return true;
	case ZYDIS_MNEMONIC_CDQ:
		spread_sign(step, ZYDIS_REGISTER_EAX, ZYDIS_REGISTER_EDX, true);
		return true;
	case ZYDIS_MNEMONIC_CQO:
		spread_sign(step, ZYDIS_REGISTER_RAX, ZYDIS_REGISTER_RDX, true);
		return true;
	default:
		return false;
	}
}

bool forward_carry_out_bits(struct step *step)
{
	switch (step->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_BSF:
	case ZYDIS_MNEMONIC_BSR:
	case ZYDIS_MNEMONIC_TZCNT:
	case ZYDIS_MNEMONIC_LZCNT:
	case ZYDIS_MNEMONIC_POPCNT:
		search(step);
		return true;
	case ZYDIS_MNEMONIC_BT:
	case ZYDIS_MNEMONIC_BTS:
	case ZYDIS_MNEMONIC_BTR:
	case ZYDIS_MNEMONIC_BTC:
		test_bit(step);
		return true;
	case ZYDIS_MNEMONIC_ROL:
	case ZYDIS_MNEMONIC_ROR:
	case ZYDIS_MNEMONIC_RORX:
		rotate(step, step->instruction.mnemonic == ZYDIS_MNEMONIC_ROL);
		return true;
	case ZYDIS_MNEMONIC_SHLX:
	case ZYDIS_MNEMONIC_SHRX:
	case ZYDIS_MNEMONIC_SARX:
		shift_without_flags(step);
		return true;
	case ZYDIS_MNEMONIC_ANDN:
	case ZYDIS_MNEMONIC_BZHI:
		mask(step);
		return true;
	case ZYDIS_MNEMONIC_BSWAP:
		reverse(step);
		return true;
	default:
		return carry_out_sum(step);
	}
}
