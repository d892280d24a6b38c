// SPDX-License-Identifier: MIT
#include <math.h>
#include <string.h>

#include "softmax.h"

#define C	FASHION_CLASSES
#define BIAS	(FASHION_PIXELS * C)

/* Half of all pixels are black and add nothing: both loops skip them. */
static void linear(const float *weights, const uint8_t *image, float out[C])
{
	size_t pixel, c;

	memcpy(out, weights + BIAS, C * sizeof(*out));
	for (pixel = 0; pixel < FASHION_PIXELS; pixel++) {
		float x = image[pixel] * (1 / 255.0f);

		if (!image[pixel])
			continue;
		for (c = 0; c < C; c++)
			out[c] += x * weights[pixel * C + c];
	}
}

static void add_outer(float *sum, const uint8_t *image, const float error[C])
{
	size_t pixel, c;

	for (pixel = 0; pixel < FASHION_PIXELS; pixel++) {
		float x = image[pixel] * (1 / 255.0f);

		if (!image[pixel])
			continue;
		for (c = 0; c < C; c++)
			sum[pixel * C + c] += x * error[c];
	}
	for (c = 0; c < C; c++)
		sum[BIAS + c] += error[c];
}

void softmax_gradient(const float *weights, const struct fashion *set,
		      const uint32_t *pick, size_t count, float *sum)
{
	size_t i, c;

	memset(sum, 0, (SOFTMAX_WEIGHTS + 1) * sizeof(*sum));
	for (i = 0; i < count; i++) {
		const uint8_t *image = set->image[pick[i]];
		uint8_t label = set->label[pick[i]];
		float out[C], largest, total = 0;

		linear(weights, image, out);
		for (largest = out[0], c = 1; c < C; c++)
			largest = fmaxf(largest, out[c]);
		sum[SOFTMAX_WEIGHTS] += largest - out[label];
		for (c = 0; c < C; c++)
			total += out[c] = expf(out[c] - largest);
		sum[SOFTMAX_WEIGHTS] += logf(total);
		for (c = 0; c < C; c++)
			out[c] = out[c] / total - (c == label);
		add_outer(sum, image, out);
	}
}

size_t softmax_right(const float *weights, const struct fashion *set,
		     size_t first, size_t end)
{
	size_t i, c, right = 0;

	for (i = first; i < end; i++) {
		float out[C];
		size_t best = 0;

		linear(weights, set->image[i], out);
		for (c = 1; c < C; c++)
			if (out[c] > out[best])
				best = c;
		right += best == set->label[i];
	}
	return right;
}
