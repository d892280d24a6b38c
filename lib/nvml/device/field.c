// SPDX-License-Identifier: MIT
/* Fields: values that a program asks for by ID, several at a time, each with a result. */
#include <time.h>

#include "library.h"

enum needs { NOTHING, LINKS, NOBODY };

/*
 * The fields as recorded, on machines with and without links. @type is set even if a field is
 * not supported. NOBODY: not supported on either machine.
 */
static const struct field {
	unsigned int id;
	nvmlValueType_t type;
	enum needs needs;
	bool of_link;		/* scopeId is the number of a link, or ~0: all links */
	size_t of_kind;		/* offset of the value in struct kind, */
	unsigned int value;	/* else the value */
} fields[] = {
#define UINT	NVML_VALUE_TYPE_UNSIGNED_INT
#define ULL	NVML_VALUE_TYPE_UNSIGNED_LONG_LONG
#define FIELD(name, its_type, what, ...) \
	{ .id = NVML_FI_DEV_##name, .type = its_type, .needs = what, ##__VA_ARGS__ }
#define OF_KIND(name)	.of_kind = offsetof(struct kind, name)
#define OF_LINK		.of_link = true
	FIELD(NVLINK_SPEED_MBPS_L0, UINT, LINKS, OF_KIND(link_mbps)),
	FIELD(NVLINK_SPEED_MBPS_COMMON, UINT, LINKS, OF_KIND(link_mbps)),
	FIELD(NVLINK_LINK_COUNT, UINT, LINKS, OF_KIND(links)),
	FIELD(NVLINK_THROUGHPUT_DATA_TX, ULL, LINKS, OF_LINK),
	FIELD(NVLINK_THROUGHPUT_DATA_RX, ULL, LINKS, OF_LINK),
	FIELD(NVLINK_THROUGHPUT_RAW_TX, ULL, LINKS, OF_LINK),
	FIELD(NVLINK_THROUGHPUT_RAW_RX, ULL, LINKS, OF_LINK),
	FIELD(REMAPPED_COR, ULL, NOTHING),
	FIELD(REMAPPED_UNC, ULL, NOTHING),
	FIELD(REMAPPED_PENDING, ULL, NOTHING),
	FIELD(REMAPPED_FAILURE, ULL, NOTHING),
	FIELD(NVLINK_REMOTE_NVLINK_ID, UINT, LINKS, OF_LINK),
	FIELD(NVLINK_ECC_DATA_ERROR_COUNT_TOTAL, NVML_VALUE_TYPE_DOUBLE, NOBODY),
	FIELD(NVLINK_ERROR_DL_REPLAY, ULL, LINKS, OF_LINK),
	FIELD(NVLINK_ERROR_DL_RECOVERY, ULL, LINKS, OF_LINK),
	FIELD(NVLINK_ERROR_DL_CRC, ULL, LINKS, OF_LINK),
	FIELD(NVLINK_GET_SPEED, UINT, LINKS, OF_LINK, OF_KIND(link_mbps)),
	FIELD(NVLINK_GET_STATE, UINT, LINKS, OF_LINK, .value = NVML_FEATURE_ENABLED),
	FIELD(NVLINK_GET_VERSION, UINT, LINKS, OF_LINK, OF_KIND(link_version)),
	FIELD(NVLINK_GET_POWER_STATE, UINT, LINKS, OF_LINK, .value = 1),
	FIELD(NVLINK_GET_POWER_THRESHOLD, UINT, LINKS, .value = 500),
	FIELD(PCIE_L0_TO_RECOVERY_COUNTER, UINT, NOTHING),
	FIELD(C2C_LINK_COUNT, UINT, NOBODY),
};

static nvmlReturn_t read_field(const struct field *field, const struct kind *kind, bool linked,
			       nvmlFieldValue_t *output)
{
	unsigned int number = field->value;

	output->valueType = field->type;
	if (field->needs == NOBODY || (field->needs == LINKS && !linked))
		return NVML_ERROR_NOT_SUPPORTED;
	if (field->of_link && output->scopeId >= kind->links && output->scopeId != ~0U)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (field->of_kind)
		number = *(const unsigned int *)((const char *)kind + field->of_kind);
	output->value.ullVal = number;
	return NVML_SUCCESS;
}

static nvmlReturn_t read_one(const struct kind *kind, bool linked, nvmlFieldValue_t *output)
{
	if (!output->fieldId || output->fieldId >= NVML_FI_MAX)
		return NVML_ERROR_INVALID_ARGUMENT;
	/* as recorded: without links, the number has no type */
	if (output->fieldId == NVML_FI_DEV_NVSWITCH_CONNECTED_LINK_COUNT) {
		output->valueType = linked ? UINT : 0;
		output->value.ullVal = linked ? kind->links : 0;
		return NVML_SUCCESS;
	}
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (fields[i].id == output->fieldId)
			return read_field(&fields[i], kind, linked, output);
	return NVML_ERROR_NOT_SUPPORTED;
}

static long long microseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static nvmlReturn_t values_of(nvmlDevice_t device, int count, nvmlFieldValue_t *values,
			      bool clear)
{
	const struct kind *kind;
	bool linked;
	nvmlReturn_t result = device_nvlink(device, &kind, &linked);

	if (result != NVML_SUCCESS)
		return result;
	if (!values || count < 1)
		return fail(NVML_ERROR_INVALID_ARGUMENT, "no fields");
	for (int i = 0; i < count; i++) {
		nvmlFieldValue_t value = values[i];

		value.nvmlReturn = read_one(kind, linked, &value);
		if (clear) {
			values[i].nvmlReturn = value.nvmlReturn;
			continue;
		}
		value.timestamp = microseconds();
		value.latencyUsec = 0;
		values[i] = value;
	}
	return NVML_SUCCESS;
}

FORWARD(nvmlDeviceGetFieldValues, (nvmlDevice_t device, int count, nvmlFieldValue_t *values),
	values_of(device, count, values, false))

/* Counters always read 0: nothing to clear. */
FORWARD(nvmlDeviceClearFieldValues, (nvmlDevice_t device, int count, nvmlFieldValue_t *values),
	values_of(device, count, values, true))
