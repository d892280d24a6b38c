// SPDX-License-Identifier: MIT
/* Errors in PTX text: the first one is told, with its line. */
#include <stdio.h>

#include "ptx.h"

CUresult ptx_need(struct reader *reader, const char *word)
{
	char what[64];

	if (ptx_take(reader, word))
		return CUDA_SUCCESS;
	snprintf(what, sizeof(what), "%s is missing before", word);
	return ptx_wrong(reader, what);
}

/* Fails because of the current word. @what: the error, in front of the word */
CUresult ptx_wrong(struct reader *reader, const char *what)
{
	int length = reader->word.length < 60 ? reader->word.length : 60;

	if (!length)
		snprintf(reader->complaint->text, sizeof(reader->complaint->text),
			 "ptxas: line %u: %s the end of the text", reader->line, what);
	else
		snprintf(reader->complaint->text, sizeof(reader->complaint->text),
			 "ptxas: line %u: %s '%.*s'", reader->line, what, length,
			 reader->word.at);
	return CUDA_ERROR_INVALID_PTX;
}
