// SPDX-License-Identifier: MIT
/*
 * Approximations of PTX: the largest error of each, over many operands, is within the bound that
 * PTX gives, and is printed beside it.
 *
 *	host-approximate MEMCAST-PTX.SO
 */
#include <math.h>
#include <stdlib.h>

#define GROUP	"approximate"
#include "translate.h"

#define COUNT	40000

/* Of logarithms, the error is absolute where they are between -1 and 1, and relative elsewhere. */
enum measure { ABSOLUTE, RELATIVE, ULP, OF_LOGARITHM };

/* Operands are bits from @low to @high, and their negatives if @negative. */
struct form {
	const char *name;
	char type;			/* f, d; h: f16; b: bf16 */
	long double (*exact)(long double a, long double b);
	enum measure measure;
	double bound;
	uint64_t low, high;
	bool negative;
};

static long double reciprocal(long double a, long double b)
{
	(void)b;
	return 1 / a;
}

static long double quotient(long double a, long double b)
{
	return a / b;
}

static long double reciprocal_root(long double a, long double b)
{
	(void)b;
	return 1 / sqrtl(a);
}

#define UNARY(name, function)							\
	static long double name(long double a, long double b)			\
	{									\
		(void)b;							\
		return function(a);						\
	}
UNARY(root, sqrtl)
UNARY(sine, sinl)
UNARY(cosine, cosl)
UNARY(logarithm, log2l)
UNARY(power, exp2l)
UNARY(tangent, tanhl)

#define NORMALS		0x00800000, 0x7f7fffff
#define TWO_PI		0x00000000, 0x40c90fda

/* Bounds of "PTX ISA"; of f64's there are none: the upper 32 bits have 20 of the fraction. */
static const struct form forms[] = {
	{ "div.approx.f32", 'f', quotient, ULP, 2, NORMALS, true },
	{ "div.approx.ftz.f32", 'f', quotient, ULP, 2, NORMALS, true },
	{ "div.full.f32", 'f', quotient, ULP, 2, NORMALS, true },
	{ "div.full.ftz.f32", 'f', quotient, ULP, 2, NORMALS, true },
	{ "rcp.approx.f32", 'f', reciprocal, ULP, 1, NORMALS, true },
	{ "rcp.approx.ftz.f32", 'f', reciprocal, ULP, 1, NORMALS, true },
	{ "sqrt.approx.f32", 'f', root, RELATIVE, 0x1p-23, NORMALS, false },
	{ "sqrt.approx.ftz.f32", 'f', root, RELATIVE, 0x1p-23, NORMALS, false },
	{ "rsqrt.approx.f32", 'f', reciprocal_root, RELATIVE, 0x1.12p-23, NORMALS, false },
	{ "rsqrt.approx.ftz.f32", 'f', reciprocal_root, RELATIVE, 0x1.12p-23, NORMALS, false },
	{ "sin.approx.f32", 'f', sine, ABSOLUTE, 0x1.6ap-21, TWO_PI, true },
	{ "sin.approx.ftz.f32", 'f', sine, ABSOLUTE, 0x1.6ap-21, TWO_PI, true },
	{ "cos.approx.f32", 'f', cosine, ABSOLUTE, 0x1.6ap-21, TWO_PI, true },
	{ "cos.approx.ftz.f32", 'f', cosine, ABSOLUTE, 0x1.6ap-21, TWO_PI, true },
	{ "lg2.approx.f32", 'f', logarithm, OF_LOGARITHM, 0x1p-22, NORMALS, false },
	{ "lg2.approx.ftz.f32", 'f', logarithm, OF_LOGARITHM, 0x1p-22, 0x3e800000, 0x40800000,
	  false },
	{ "ex2.approx.f32", 'f', power, ULP, 2, 0x33000000, 0x42fbffff, true },
	{ "ex2.approx.ftz.f32", 'f', power, ULP, 2, 0x33000000, 0x42fbffff, true },
	{ "tanh.approx.f32", 'f', tangent, RELATIVE, 0x1p-11, NORMALS, true },
	{ "tanh.approx.f16", 'h', tangent, ABSOLUTE, 0x1.02p-11, 0x0000, 0x7bff, true },
	{ "ex2.approx.f16", 'h', power, RELATIVE, 0x1.12p-10, 0x0400, 0x4b80, true },
	{ "tanh.approx.bf16", 'b', tangent, ABSOLUTE, 0x1p-8, 0x0080, 0x7f7f, true },
	{ "ex2.approx.ftz.bf16", 'b', power, RELATIVE, 0x1p-7, 0x0080, 0x42fb, true },
	{ "rcp.approx.ftz.f64", 'd', reciprocal, RELATIVE, 0x1p-20, 0x0020000000000000,
	  0x7fbfffffffffffff, true },
	{ "rsqrt.approx.ftz.f64", 'd', reciprocal_root, RELATIVE, 0x1p-20, 0x0010000000000000,
	  0x7fefffffffffffff, false },
	{ "rsqrt.approx.f64", 'd', reciprocal_root, RELATIVE, 0x1p-20, 0x0010000000000000,
	  0x7fefffffffffffff, false },
};

static int bits_of_type(char type)
{
	return type == 'd' ? 64 : type == 'f' ? 32 : 16;
}

/* Return: the number that an operand or a result is */
static long double number_of(char type, uint64_t bits)
{
	uint32_t word = type == 'b' ? bits << 16 : bits;
	double wide;
	float value;

	if (type == 'd') {
		memcpy(&wide, &bits, sizeof(wide));
		return wide;
	}
	if (type == 'h') {
		int exponent = bits >> 10 & 31, fraction = bits & 1023;
		long double size = exponent == 31 ? (fraction ? NAN : INFINITY) :
				   exponent ? ldexpl(1024 + fraction, exponent - 25) :
				   ldexpl(fraction, -24);

		return bits & 0x8000 ? -size : size;
	}
	memcpy(&value, &word, sizeof(value));
	return value;
}

/* Return: the error of a result; those that f32 cannot say as a normal number have no bound */
static double error_of(const struct form *form, long double exact, long double got)
{
	long double error = fabsl(got - exact), size = fabsl(exact);

	if (form->measure == ABSOLUTE || (form->measure == OF_LOGARITHM && size < 1))
		return error;
	if (form->type == 'f' && (size < 0x1p-126L || size > 0x1.fffffep127L))
		return 0;
	if (form->measure == RELATIVE || form->measure == OF_LOGARITHM)
		return size ? error / size : error;
	return error / ldexpl(1, ilogbl(size) - 23);
}

static void write_text(const struct form *form, char *text, size_t size)
{
	bool two = form->exact == quotient;
	int bits = bits_of_type(form->type);

	snprintf(text, size, HEAD ".visible .entry k(.param .u64 pi, .param .u64 po) {\n"
		 ".reg .pred %%p; .reg .b32 %%t, %%n; .reg .b64 %%a, %%b, %%c, %%d, %%j; "
		 ".reg .b%d %%x, %%y, %%z;\n"
		 "ld.param.u64 %%a, [pi]; ld.param.u64 %%b, [po]; mov.u32 %%t, %%tid.x; "
		 "mov.u32 %%n, %%ntid.x;\n"
		 "L: mul.wide.u32 %%j, %%t, 16; add.u64 %%c, %%a, %%j; "
		 "mul.wide.u32 %%j, %%t, 8; add.u64 %%d, %%b, %%j;\n"
		 "ld.global.b%d %%x, [%%c]; ld.global.b%d %%y, [%%c+8]; %s %%z, %%x%s; "
		 "st.global.b%d [%%d], %%z;\n"
		 "add.u32 %%t, %%t, %%n; setp.lt.u32 %%p, %%t, %d; @%%p bra L; ret; }\n",
		 bits, bits, bits, form->name, two ? ", %y" : "", bits, COUNT);
}

static uint64_t random_bits(void)
{
	static uint64_t state = 1;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Operands: the ends of the range, and random ones between */
static void operands(const struct form *form, uint64_t (*in)[2])
{
	uint64_t width = form->high - form->low + 1;
	uint64_t sign = (uint64_t)form->negative << (bits_of_type(form->type) - 1);

	for (int i = 0; i < COUNT; i++)
		for (int j = 0; j < 2; j++) {
			in[i][j] = i < 4 ? (i & 1 ? form->high : form->low) :
				   form->low + random_bits() % width;
			if (random_bits() & 1)
				in[i][j] |= sign;
		}
}

static void measure(const struct form *form)
{
	static const char *const units[] = { "absolute", "relative", "ulp", "relative" };
	static uint64_t in[COUNT][2], out[COUNT];
	uint64_t parameters[] = { (uintptr_t)in, (uintptr_t)out };
	char text[1500], why[256] = "";
	double largest = 0;
	struct ptx_code *code;
	struct ptx_log log;

	operands(form, in);
	memset(out, 0, sizeof(out));
	write_text(form, text, sizeof(text));
	if (load(text, strlen(text), &code, &log)) {
		told(form->name, false, log.text);
		return;
	}
	if (run(code, "k", 128, parameters, why, sizeof(why)))
		largest = NAN;
	for (int i = 0; i < COUNT && !isnan(largest); i++) {
		long double a = number_of(form->type, in[i][0]);
		long double b = number_of(form->type, in[i][1]);
		double error;

		/* div.approx has no bound where 1 / b is no normal number */
		if (form->exact == quotient && fabsl(b) > 0x1p126L)
			continue;
		error = error_of(form, form->exact(a, b), number_of(form->type, out[i]));
		if (!(error <= largest))
			largest = error;
	}
	printf("# %s: largest %s error %.4g, PTX allows %.4g\n", form->name,
	       units[form->measure], largest, form->bound);
	told(form->name, largest > 0 && largest <= form->bound, *why ? why : "too large, or none");
	object->code_free(code);
}

int main(int argc, char **argv)
{
	if (!open_object(argc == 2 ? argv[1] : NULL))
		return 2;
	printf("TAP version 13\n1..%zu\n", sizeof(forms) / sizeof(*forms));
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		measure(&forms[i]);
	return failed;
}
