/* SPDX-License-Identifier: MIT */
/*
 * Kernel nodes: the interface of lib/launch/ for lib/graph/. A node's parameters are those of
 * CUgraphNodeParams; copies that the library keeps have an invocation in them.
 */
#ifndef MEMCAST_NODE_H
#define MEMCAST_NODE_H

#include "base/base.h"

struct invocation;
struct function;

CUresult kernel_node_check(CUgraphNodeParams *params);
CUresult kernel_node_copy(CUgraphNodeParams *to, const CUgraphNodeParams *from);
CUresult kernel_node_keep(CUgraphNodeParams *to, CUgraphNodeParams *node);
void kernel_node_free(CUgraphNodeParams *params);
CUresult kernel_node_run(const CUgraphNodeParams *params);
const char *kernel_node_name(const CUgraphNodeParams *params);

/* attributes of a node, whose parameters are the library's own copy */
CUresult node_attribute(const CUgraphNodeParams *params, int number,
			CUlaunchAttributeValue *value);
CUresult node_attribute_set(const CUgraphNodeParams *params, int number,
			    const CUlaunchAttributeValue *value);
CUresult node_attributes_copy(const CUgraphNodeParams *to, const CUgraphNodeParams *from);

/* makes the parameters of a node for a captured launch; @invocation stays the caller's */
void node_params_of(CUgraphNodeParams *params, struct invocation *invocation,
		    struct function *function);

/* kernels call cudaGraphSetConditional(): @function is to set the condition, if there is one */
void translated_conditions(bool (*function)(uint64_t handle, uint32_t value));

#endif /* MEMCAST_NODE_H */
