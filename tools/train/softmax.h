/* SPDX-License-Identifier: MIT */
/* Softmax regression on Fashion-MNIST: one linear layer, cross-entropy loss. */
#ifndef MEMCAST_TOOLS_SOFTMAX_H
#define MEMCAST_TOOLS_SOFTMAX_H

#include "fashion.h"

/* weights[pixel][class], then the classes' biases */
#define SOFTMAX_WEIGHTS	((FASHION_PIXELS + 1) * FASHION_CLASSES)

/*
 * Adds up, over the @count images whose numbers are at @pick, the gradient of
 * the loss in @sum[0 … SOFTMAX_WEIGHTS - 1] and the loss in the element after.
 */
void softmax_gradient(const float *weights, const struct fashion *set,
		      const uint32_t *pick, size_t count, float *sum);

/* How many of the images first … end - 1 the weights classify as labelled. */
size_t softmax_right(const float *weights, const struct fashion *set,
		     size_t first, size_t end);

#endif /* MEMCAST_TOOLS_SOFTMAX_H */
