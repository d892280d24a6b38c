/* SPDX-License-Identifier: MIT */
/*
 * From PTX text to functions of this processor. struct ptx_object (ptx_object.h) says what these
 * functions do.
 */
#ifndef MEMCAST_PTX_TRANSLATE_H
#define MEMCAST_PTX_TRANSLATE_H

#include "translate/ptx_object.h"

int ptx_check(const struct ptx_text *text, struct ptx_log *log);
int ptx_code_new(const struct ptx_text *texts, uint32_t count,
		 const struct ptx_variables *variables, struct ptx_code **code, struct ptx_log *log);
int ptx_link(const struct ptx_text *texts, uint32_t count, const char *const *names,
	     bool complete, struct ptx_log *log);
int ptx_code_count(const struct ptx_code *code);
void ptx_code_compile(struct ptx_code *code, uint32_t part, uint32_t parts, bool windows,
		      ptx_told *told, void *data);
void ptx_code_show(struct ptx_code *code, const char *name, ptx_shown *shown, ptx_told *told,
		   void *data);
void ptx_code_free(struct ptx_code *code);
void *ptx_code_unified(struct ptx_code *code, const char *name);
int ptx_code_kernel(struct ptx_code *code, const char *name, const struct ptx_kernel **kernel,
		    struct ptx_log *log);
const struct ptx_kernel *ptx_code_for_windows(struct ptx_code *code,
					      const struct ptx_kernel *kernel);

#endif /* MEMCAST_PTX_TRANSLATE_H */
