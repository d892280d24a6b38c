// SPDX-License-Identifier: MIT
/*
 * Answers of NVML as recorded on hardware: of two devices with links to a switch, which memcast's
 * devices that can multicast resemble, and of one device without links.
 */
#include "nvml_fixture.h"

TEST_F(nvml, error_texts)
{
	static const char *const recorded[] = {
		"Success", "Uninitialized", "Invalid Argument", "Not Supported",
		"Insufficient Permissions", "Already Initialized", "Not Found",
		"Insufficient Size", "Insufficient External Power", "Driver Not Loaded", "Timeout",
		"Interrupt Request Issue", "NVML Shared Library Not Found", "Function Not Found",
		"Corrupted infoROM", "GPU is lost", "GPU requires reset",
		"GPU access blocked by the operating system", "Driver/library version mismatch",
		"In use by another client", "Insufficient Memory", "No data",
		"vGPU ECC not supported", "Insufficient Resources", "Invalid Frequency",
		"Argument version mismatch", "Requested functionality has been deprecated",
		"System is not in ready state", "No supported GPUs were found",
		"Resource not in correct state to perform requested operation",
		"Reset type is not supported for given device", "Unknown Error",
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(recorded); i++)
		EXPECT_STREQ(recorded[i], nvmlErrorString(i));
	EXPECT_STREQ("Unknown Error", nvmlErrorString(999));
	EXPECT_STREQ("Unknown Error", nvmlErrorString(-1));
}

TEST_F(nvml, numbers)
{
	typedef nvmlReturn_t read(nvmlDevice_t device, unsigned int *value);
	static const struct {
		const char *name;
		read *call;
		unsigned int value;
	} recorded[] = {
#define NUMBER(name, value)	{ #name, (read *)nvmlDeviceGet##name, value }
		NUMBER(MaxPcieLinkGeneration, 5), NUMBER(CurrPcieLinkGeneration, 5),
		NUMBER(MaxPcieLinkWidth, 16), NUMBER(CurrPcieLinkWidth, 16),
		NUMBER(PcieLinkMaxSpeed, 5), NUMBER(PcieSpeed, 32000), NUMBER(NumGpuCores, 16896),
		NUMBER(MemoryBusWidth, 5120), NUMBER(Architecture, 9), NUMBER(Brand, 14),
		NUMBER(ComputeMode, 0), NUMBER(PersistenceMode, 1), NUMBER(BusType, 2),
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(recorded); i++) {
		unsigned int value = UNTOUCHED;

		EXPECT_GOOD(recorded[i].call(self->device, &value));
		EXPECT_EQ(recorded[i].value, value)
			TH_LOG("%s", recorded[i].name);
		EXPECT_NVML(NVML_ERROR_INVALID_ARGUMENT, recorded[i].call(self->device, NULL));
		EXPECT_NVML(NVML_ERROR_INVALID_ARGUMENT, recorded[i].call(NULL, &value));
	}
	for (unsigned int i = 0; i < self->devices; i++) {
		unsigned int value = UNTOUCHED, pending = UNTOUCHED;
		int major = 0, minor = UNTOUCHED;
		nvmlDevice_t device = device_at(i);

		EXPECT_GOOD(nvmlDeviceGetIndex(device, &value));
		EXPECT_EQ(i, value);
		EXPECT_GOOD(nvmlDeviceGetMinorNumber(device, &value));
		EXPECT_EQ(i, value);
		EXPECT_GOOD(nvmlDeviceGetMigMode(device, &value, &pending));
		EXPECT_EQ(0, value + pending);
		EXPECT_GOOD(nvmlDeviceGetCudaComputeCapability(device, &major, &minor));
		EXPECT_EQ(90, 10 * major + minor);
		EXPECT_NVML(NVML_ERROR_NOT_SUPPORTED, nvmlDeviceGetNumaNodeId(device, &value));
	}
}

TEST_F(nvml, versions)
{
	char text[96] = "";

	EXPECT_GOOD(nvmlSystemGetDriverVersion(text, sizeof(text)));
	EXPECT_STREQ("580.159.04", text);
	EXPECT_GOOD(nvmlSystemGetNVMLVersion(text, sizeof(text)));
	EXPECT_STREQ("13.580.159.04", text);
}

TEST_F(nvml, pci_address)
{
	char cuda[32], legacy[32];
	nvmlPciInfo_t info;

	ASSERT_OK(cuInit(0));
	for (unsigned int i = 0; i < self->devices; i++) {
		EXPECT_GOOD(nvmlDeviceGetPciInfo(device_at(i), &info));
		EXPECT_EQ(0x233010de, info.pciDeviceId);
		EXPECT_EQ(0x16c110de, info.pciSubSystemId);
		EXPECT_OK(cuDeviceGetPCIBusId(cuda, sizeof(cuda), i));
		snprintf(legacy, sizeof(legacy), "%04X:%02X:%02X.0", info.domain, info.bus,
			 info.device);
		EXPECT_STREQ(legacy, info.busIdLegacy);
		EXPECT_EQ(0, strcasecmp(cuda, legacy));
		EXPECT_EQ(0, strncmp(info.busId, "0000", 4));
		EXPECT_STREQ(legacy, info.busId + 4);
	}
}

/* Results of the calls about each link; @caps is the result for capabilities 0 to 6 */
struct link_answers {
	int state, version, caps, last_cap, remote, type;
};

#define check_links(first, last, answers)	check_links_(_metadata, first, last, answers)
static void check_links_(struct __test_metadata *_metadata, unsigned int first,
			 unsigned int last, struct link_answers answers)
{
	nvmlDevice_t device = device_at(0);

	for (unsigned int link = first; link <= last; link++) {
		nvmlIntNvLinkDeviceType_t type = UNTOUCHED;
		unsigned int state = UNTOUCHED, version = UNTOUCHED;
		nvmlPciInfo_t remote = { .busId = "" };

		EXPECT_NVML(answers.state, nvmlDeviceGetNvLinkState(device, link,
								    (nvmlEnableState_t *)&state));
		EXPECT_EQ(answers.state ? UNTOUCHED : 1, state);
		EXPECT_NVML(answers.version, nvmlDeviceGetNvLinkVersion(device, link, &version));
		EXPECT_EQ(answers.version ? UNTOUCHED : 6, version);
		for (unsigned int cap = 0; cap <= NVML_NVLINK_CAP_COUNT; cap++) {
			unsigned int yes = UNTOUCHED;
			int answer = cap == NVML_NVLINK_CAP_COUNT ? answers.last_cap :
								    answers.caps;

			EXPECT_NVML(answer,
				    nvmlDeviceGetNvLinkCapability(device, link, cap, &yes));
			EXPECT_EQ(answer ? UNTOUCHED : 1, yes);
		}
		EXPECT_NVML(answers.remote,
			    nvmlDeviceGetNvLinkRemotePciInfo(device, link, &remote));
		EXPECT_STREQ(answers.remote ? "" : "FFFFFFFF:FF:FF.0", remote.busId);
		EXPECT_EQ(answers.remote ? 0 : 0xffffffff, remote.pciDeviceId);
		EXPECT_NVML(answers.type,
			    nvmlDeviceGetNvLinkRemoteDeviceType(device, link, &type));
		EXPECT_EQ(answers.type ? UNTOUCHED : 2, type);
	}
}

TEST_F(nvml, links)
{
	check_links(0, 17, ((struct link_answers) { .last_cap = 2 }));
	check_links(18, 19, ((struct link_answers) { 2, 2, 2, 2, 2, 2 }));
}

TEST_F(nvml, no_links)
{
	if (geteuid())
		SKIP(return, "parameters are root's");
	SET("multicast", "0");
	check_links(0, 17, ((struct link_answers) { 3, 3, 3, 3, 3, 3 }));
	check_links(18, 19, ((struct link_answers) { 3, 3, 2, 2, 3, 3 }));
}

static const struct field {
	unsigned int id;
	int with, type;		/* result and type if the device has links */
	int without, type_without;
	unsigned int value, value_without;
} fields[] = {
	{ 138, 0, 3, 3, 3, 0, 0 }, { 139, 0, 3, 3, 3, 0, 0 },
	/* hardware answered 39 and 156 here: traffic of links that nobody uses */
	{ 140, 0, 3, 3, 3, 0, 0 }, { 141, 0, 3, 3, 3, 0, 0 },
	{ 142, 0, 3, 0, 3, 0, 0 }, { 143, 0, 3, 0, 3, 0, 0 },
	{ 144, 0, 3, 0, 3, 0, 0 }, { 145, 0, 3, 0, 3, 0, 0 },
	{ 146, 0, 1, 3, 1, 0, 0 }, { 147, 0, 1, 0, 0, 18, 0 },
	{ 160, 3, 0, 3, 0, 0, 0 },
	{ 161, 0, 3, 3, 3, 0, 0 }, { 162, 0, 3, 3, 3, 0, 0 }, { 163, 0, 3, 3, 3, 0, 0 },
	{ 164, 0, 1, 3, 1, 26562, 0 }, { 165, 0, 1, 3, 1, 1, 0 }, { 166, 0, 1, 3, 1, 6, 0 },
	{ 167, 0, 1, 3, 1, 1, 0 }, { 168, 0, 1, 3, 1, 500, 0 },
	/* hardware answered 186 and 376 here: how often a bus recovered */
	{ 169, 0, 1, 0, 1, 0, 0 },
	{ 170, 3, 1, 3, 1, 0, 0 },
};

#define check_fields(links)	check_fields_(_metadata, links)
static void check_fields_(struct __test_metadata *_metadata, bool links)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(fields); i++) {
		const struct field *field = &fields[i];
		nvmlFieldValue_t value = { .fieldId = field->id };

		EXPECT_GOOD(nvmlDeviceGetFieldValues(device_at(0), 1, &value));
		EXPECT_EQ(links ? field->with : field->without, (int)value.nvmlReturn)
			TH_LOG("field %u", field->id);
		EXPECT_EQ(links ? field->type : field->type_without, (int)value.valueType)
			TH_LOG("field %u", field->id);
		EXPECT_EQ(links ? field->value : field->value_without, value.value.ullVal)
			TH_LOG("field %u", field->id);
	}
}

TEST_F(nvml, fields)
{
	check_fields(true);
}

TEST_F(nvml, fields_without_links)
{
	if (geteuid())
		SKIP(return, "parameters are root's");
	SET("multicast", "0");
	check_fields(false);
}

#define check_fabric(state_)	check_fabric_(_metadata, state_)
static void check_fabric_(struct __test_metadata *_metadata, int state)
{
	static const unsigned char zeros[NVML_GPU_FABRIC_UUID_LEN];
	nvmlGpuFabricInfo_v2_t info = { .version = nvmlGpuFabricInfo_v2 };
	void *output = &info;

	EXPECT_EQ(36, sizeof(info));
	EXPECT_GOOD(nvmlDeviceGetGpuFabricInfoV(device_at(0), output));
	EXPECT_EQ(0, (int)info.status);
	EXPECT_EQ(state, (int)info.state);
	EXPECT_EQ(0, info.cliqueId);
	EXPECT_EQ(0, memcmp(info.clusterUuid, zeros, sizeof(zeros)));
	EXPECT_EQ(0, info.healthMask);
	info.version = 0;
	EXPECT_NVML(NVML_ERROR_ARGUMENT_VERSION_MISMATCH,
		    nvmlDeviceGetGpuFabricInfoV(device_at(0), output));
}

TEST_F(nvml, fabric)
{
	check_fabric(NVML_GPU_FABRIC_STATE_COMPLETED);
}

TEST_F(nvml, no_fabric)
{
	if (geteuid())
		SKIP(return, "parameters are root's");
	SET("multicast", "0");
	check_fabric(NVML_GPU_FABRIC_STATE_NOT_SUPPORTED);
}

#define check_p2p(first, second, statuses)	check_p2p_(_metadata, first, second, statuses)
static void check_p2p_(struct __test_metadata *_metadata, int first, int second,
		       const int statuses[6])
{
	for (int index = 0; index < 6; index++) {
		nvmlGpuP2PStatus_t status = UNTOUCHED;

		EXPECT_GOOD(nvmlDeviceGetP2PStatus(device_at(first), device_at(second), index,
						   &status));
		EXPECT_EQ(statuses[index], (int)status);
	}
}

TEST_F(nvml, pairs)
{
	static const int linked[6] = { 0, 0, 0, 0, 5, 0 };
	nvmlGpuTopologyLevel_t level = UNTOUCHED;

	for (int first = 0; first < 2; first++)
		for (int second = 0; second < 2; second++)
			check_p2p(first, second, linked);
	EXPECT_NVML(NVML_ERROR_NOT_SUPPORTED,
		    nvmlDeviceGetTopologyCommonAncestor(device_at(0), device_at(0), &level));
	EXPECT_EQ(UNTOUCHED, (int)level);
}

TEST_F(nvml, pairs_without_links)
{
	static const int alone[6] = { 5, 5, 5, 5, 5, 0 };

	if (geteuid())
		SKIP(return, "parameters are root's");
	SET("multicast", "0");
	check_p2p(0, 0, alone);
}

TEST_F(nvml, bad_arguments)
{
	nvmlDevice_t device = NULL;
	char name[96];

	EXPECT_NVML(NVML_ERROR_NOT_FOUND,
		    nvmlDeviceGetHandleByPciBusId("ffff:ff:1f.0", &device));
	EXPECT_NVML(NVML_ERROR_INVALID_ARGUMENT,
		    nvmlDeviceGetHandleByIndex(self->devices, &device));
	EXPECT_EQ(NULL, device);
	EXPECT_NVML(NVML_ERROR_INVALID_ARGUMENT, nvmlDeviceGetCount(NULL));
	EXPECT_NVML(NVML_ERROR_INVALID_ARGUMENT, nvmlDeviceGetName(self->device, NULL, 96));
	EXPECT_NVML(NVML_ERROR_INSUFFICIENT_SIZE, nvmlDeviceGetName(self->device, name, 2));
}

TEST_F(nvml, shutdown)
{
	unsigned int count = UNTOUCHED;

	EXPECT_GOOD(nvmlShutdown());
	EXPECT_NVML(NVML_ERROR_UNINITIALIZED, nvmlShutdown());
	EXPECT_NVML(NVML_ERROR_UNINITIALIZED, nvmlDeviceGetCount(&count));
	EXPECT_EQ(UNTOUCHED, count);
}

TEST_HARNESS_MAIN
