// SPDX-License-Identifier: MIT
/* Checks of one instruction: its modifiers, and the number and kinds of its operands. */
#include <stdio.h>
#include <string.h>

#include "code.h"
#include "instructions.h"

static CUresult wrong(const struct statement *statement, struct complaint *complaint,
		      const char *what, const struct word *word)
{
	snprintf(complaint->text, sizeof(complaint->text), "ptxas: line %u: %s '%.*s'",
		 statement->line, what, (int)(word->length < 60 ? word->length : 60), word->at);
	return CUDA_ERROR_INVALID_PTX;
}

CUresult form_check(const struct statement *statement, struct complaint *complaint)
{
	const struct opcode *opcode = statement->opcode;

	for (uint32_t i = 0; i < statement->modifiers_count; i++) {
		const struct word *word = &statement->modifiers[i];

		if (!type_of_word(word) && !modifier_of_word(word) && opcode->translate)
			return wrong(statement, complaint, "unknown is the modifier", word);
	}
	if (!opcode->translate)
		return CUDA_SUCCESS;
	if (statement->operands_count < opcode->least || statement->operands_count > opcode->most)
		return wrong(statement, complaint, "wrong is the number of operands of",
			     &statement->text);
	return CUDA_SUCCESS;
}
