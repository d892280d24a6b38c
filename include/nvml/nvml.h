/* SPDX-License-Identifier: MIT */
/*
 * The part of NVML, the management library, that memcast has.
 *
 * Names, numbers and layouts are those of NVML 13.0, so that a program built with
 * NVIDIA's header of this name runs on memcast's libnvidia-ml.so.1, and the other way
 * round. Text and everything else is memcast's own. The library exports all functions
 * of NVML 13.0; those that are not declared here return NVML_ERROR_NOT_SUPPORTED, as
 * lib/nvml/functions.def lists them, and a program that names them needs NVIDIA's header.
 * docs/stack/nvml.md says what programs find.
 *
 * "Source" says where a function's rules come from: recorded (on hardware: H100s, driver
 * 580), document (NVIDIA's published text), or ours (where neither says).
 *
 * Every function except those that need no initialisation can return, besides the errors
 * listed with it,
 *
 *   NVML_ERROR_UNINITIALIZED		nvmlInit() was not called
 *   NVML_ERROR_INVALID_ARGUMENT		not a device, or an output pointer is NULL
 *   NVML_ERROR_GPU_IS_LOST		the device's host was lost
 *   NVML_ERROR_LIB_RM_VERSION_MISMATCH	the process has loaded a libcuda.so.1 that is not
 *					memcast's, or not of the module's version
 *   NVML_ERROR_UNKNOWN			libcuda.so.1 does not answer for another reason
 *   NVML_ERROR_MEMORY			there is no memory
 *   NVML_ERROR_INSUFFICIENT_RESOURCES	the process or the machine can open no more files
 *
 * A call that fails leaves its outputs as they were. With CUDA_LOG_FILE=stderr, stdout or
 * a path in the environment, each failed call writes a line there with the reason in
 * words. All calls may be made from several threads at once, and by the child of a fork()
 * as by its parent. No call initialises CUDA: a program that has called NVML alone
 * may fork, and its children may use devices.
 */
/* The include guard of NVIDIA's header of this name: of the two headers, the first one counts. */
#ifndef __nvml_nvml_h__
#define __nvml_nvml_h__

#ifdef __cplusplus
extern "C" {
#endif

#define NVML_API_VERSION	13
#define NVML_API_VERSION_STR	"13"

/* Programs that want an old interface define this first; then each name is itself. */
#ifndef NVML_NO_UNVERSIONED_FUNC_DEFS
#define nvmlInit				nvmlInit_v2
#define nvmlDeviceGetPciInfo			nvmlDeviceGetPciInfo_v3
#define nvmlDeviceGetCount			nvmlDeviceGetCount_v2
#define nvmlDeviceGetHandleByIndex		nvmlDeviceGetHandleByIndex_v2
#define nvmlDeviceGetHandleByPciBusId		nvmlDeviceGetHandleByPciBusId_v2
#define nvmlDeviceGetNvLinkRemotePciInfo	nvmlDeviceGetNvLinkRemotePciInfo_v2
#define nvmlEventSetWait			nvmlEventSetWait_v2
#define nvmlDeviceGetComputeRunningProcesses	nvmlDeviceGetComputeRunningProcesses_v3
#define nvmlDeviceGetGraphicsRunningProcesses	nvmlDeviceGetGraphicsRunningProcesses_v3
#define nvmlDeviceGetMPSComputeRunningProcesses	nvmlDeviceGetMPSComputeRunningProcesses_v3
#define nvmlGetBlacklistDeviceCount		nvmlGetExcludedDeviceCount
#endif

/* The value of a structure's version field: its size, and its version in the top byte */
#define NVML_STRUCT_VERSION(data, ver) \
	((unsigned int)(sizeof(nvml##data##_v##ver##_t) | ((ver) << 24U)))

#define NVML_VALUE_NOT_AVAILABLE	(-1)

typedef enum nvmlReturn_enum {
	NVML_SUCCESS				= 0,
	NVML_ERROR_UNINITIALIZED		= 1,
	NVML_ERROR_INVALID_ARGUMENT		= 2,
	NVML_ERROR_NOT_SUPPORTED		= 3,
	NVML_ERROR_NO_PERMISSION		= 4,
	NVML_ERROR_ALREADY_INITIALIZED		= 5,
	NVML_ERROR_NOT_FOUND			= 6,
	NVML_ERROR_INSUFFICIENT_SIZE		= 7,
	NVML_ERROR_INSUFFICIENT_POWER		= 8,
	NVML_ERROR_DRIVER_NOT_LOADED		= 9,
	NVML_ERROR_TIMEOUT			= 10,
	NVML_ERROR_IRQ_ISSUE			= 11,
	NVML_ERROR_LIBRARY_NOT_FOUND		= 12,
	NVML_ERROR_FUNCTION_NOT_FOUND		= 13,
	NVML_ERROR_CORRUPTED_INFOROM		= 14,
	NVML_ERROR_GPU_IS_LOST			= 15,
	NVML_ERROR_RESET_REQUIRED		= 16,
	NVML_ERROR_OPERATING_SYSTEM		= 17,
	NVML_ERROR_LIB_RM_VERSION_MISMATCH	= 18,
	NVML_ERROR_IN_USE			= 19,
	NVML_ERROR_MEMORY			= 20,
	NVML_ERROR_NO_DATA			= 21,
	NVML_ERROR_VGPU_ECC_NOT_SUPPORTED	= 22,
	NVML_ERROR_INSUFFICIENT_RESOURCES	= 23,
	NVML_ERROR_FREQ_NOT_SUPPORTED		= 24,
	NVML_ERROR_ARGUMENT_VERSION_MISMATCH	= 25,
	NVML_ERROR_DEPRECATED			= 26,
	NVML_ERROR_NOT_READY			= 27,
	NVML_ERROR_GPU_NOT_FOUND		= 28,
	NVML_ERROR_INVALID_STATE		= 29,
	NVML_ERROR_RESET_TYPE_NOT_SUPPORTED	= 30,
	NVML_ERROR_UNKNOWN			= 999,
} nvmlReturn_t;

typedef enum nvmlEnableState_enum {
	NVML_FEATURE_DISABLED	= 0,
	NVML_FEATURE_ENABLED	= 1,
} nvmlEnableState_t;

/* A device: valid in the process that was given it, until the process ends */
typedef struct nvmlDevice_st *nvmlDevice_t;

/* ---- the library */

#define NVML_INIT_FLAG_NO_GPUS		1	/* do not fail if there are no devices */
#define NVML_INIT_FLAG_NO_ATTACH	2

/**
 * nvmlInit_v2() - initialise the library
 *
 * Calls are counted: each needs an nvmlShutdown(). nvmlInit() is the same.
 * Needs no initialisation before.
 *
 * Return: NVML_SUCCESS, or NVML_ERROR_DRIVER_NOT_LOADED: there are no devices.
 * Source: recorded.
 */
nvmlReturn_t nvmlInit_v2(void);

/**
 * nvmlInitWithFlags() - initialise the library, with flags
 * @flags: mask of NVML_INIT_FLAG_…
 *
 * Return: as nvmlInit_v2(); NVML_ERROR_INVALID_ARGUMENT for other flags.
 * Source: document.
 */
nvmlReturn_t nvmlInitWithFlags(unsigned int flags);

/**
 * nvmlShutdown() - undo one nvmlInit()
 *
 * Return: NVML_SUCCESS, or NVML_ERROR_UNINITIALIZED if no nvmlInit() is left to undo.
 * Source: recorded.
 */
nvmlReturn_t nvmlShutdown(void);

/**
 * nvmlErrorString() - a result in words
 * @result: any number; needs no initialisation
 *
 * Return: a constant text; "Unknown Error" for numbers that are not in the list.
 * Source: recorded.
 */
const char *nvmlErrorString(nvmlReturn_t result);

/* ---- the system */

#define NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE	80
#define NVML_SYSTEM_NVML_VERSION_BUFFER_SIZE	80

/**
 * nvmlSystemGetDriverVersion() - the version of the driver whose results memcast gives
 * @version: buffer
 * @length: bytes there; 80 are enough
 *
 * Return: NVML_SUCCESS, or NVML_ERROR_INSUFFICIENT_SIZE. Source: recorded.
 */
nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned int length);

/**
 * nvmlSystemGetNVMLVersion() - the same of NVML; needs no initialisation
 * @version: buffer
 * @length: bytes there; 80 are enough
 *
 * Return: NVML_SUCCESS, or NVML_ERROR_INSUFFICIENT_SIZE. Source: recorded.
 */
nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned int length);

#define NVML_CUDA_DRIVER_VERSION_MAJOR(v)	((v) / 1000)
#define NVML_CUDA_DRIVER_VERSION_MINOR(v)	(((v) % 1000) / 10)

/**
 * nvmlSystemGetCudaDriverVersion_v2() - the version that cuDriverGetVersion() gives; needs no
 * initialisation
 * @version: output; nvmlSystemGetCudaDriverVersion() is the same
 *
 * Return: NVML_SUCCESS. Source: recorded.
 */
nvmlReturn_t nvmlSystemGetCudaDriverVersion(int *version);
nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *version);

/**
 * nvmlSystemGetProcessName() - the path that a process was started with
 * @pid: of any process that /proc shows
 * @name: buffer
 * @length: bytes there; a longer name is cut
 *
 * Return: NVML_SUCCESS, or NVML_ERROR_NOT_FOUND. Source: document.
 */
nvmlReturn_t nvmlSystemGetProcessName(unsigned int pid, char *name, unsigned int length);

/**
 * nvmlSystemGetTopologyGpuSet() - the devices near a CPU
 * @cpu: the CPU's number
 * @count: how many @devices there is room for; output: how many were written, or, with 0 here,
 *	how many there are
 * @devices: array
 *
 * Near is on the same NUMA node. Return: NVML_SUCCESS. Source: document.
 */
nvmlReturn_t nvmlSystemGetTopologyGpuSet(unsigned int cpu, unsigned int *count,
					 nvmlDevice_t *devices);

typedef struct nvmlHwbcEntry_st {
	unsigned int hwbcId;
	char firmwareVersion[32];
} nvmlHwbcEntry_t;

/**
 * nvmlSystemGetHicVersion() - host interface cards
 * @count: output: 0
 * @entries: not used
 *
 * Return: NVML_SUCCESS. Source: ours.
 */
nvmlReturn_t nvmlSystemGetHicVersion(unsigned int *count, nvmlHwbcEntry_t *entries);

/**
 * nvmlUnitGetCount() - S-class units
 * @count: output: 0
 *
 * Return: NVML_SUCCESS. Source: ours.
 */
nvmlReturn_t nvmlUnitGetCount(unsigned int *count);

/**
 * nvmlGetExcludedDeviceCount() - devices that the driver leaves out; needs no
 * initialisation
 * @count: output: 0
 *
 * Return: NVML_SUCCESS. Source: document.
 */
nvmlReturn_t nvmlGetExcludedDeviceCount(unsigned int *count);

/* Confidential computing is off: all of these are 0. */
typedef struct nvmlConfComputeSystemCaps_st {
	unsigned int cpuCaps;
	unsigned int gpusCaps;
} nvmlConfComputeSystemCaps_t;

#define NVML_CC_SYSTEM_ENVIRONMENT_UNAVAILABLE	0
#define NVML_CC_SYSTEM_FEATURE_DISABLED		0
#define NVML_CC_SYSTEM_FEATURE_ENABLED		1
#define NVML_CC_SYSTEM_DEVTOOLS_MODE_OFF	0
#define NVML_CC_SYSTEM_MULTIGPU_NONE		0

typedef struct nvmlConfComputeSystemState_st {
	unsigned int environment;
	unsigned int ccFeature;
	unsigned int devToolsMode;
} nvmlConfComputeSystemState_t;

typedef struct {
	unsigned int version;
	unsigned int environment;
	unsigned int ccFeature;
	unsigned int devToolsMode;
	unsigned int multiGpuMode;
} nvmlSystemConfComputeSettings_v1_t;

typedef nvmlSystemConfComputeSettings_v1_t nvmlSystemConfComputeSettings_t;
#define nvmlSystemConfComputeSettings_v1	NVML_STRUCT_VERSION(SystemConfComputeSettings, 1)

/**
 * nvmlSystemGetConfComputeCapabilities() - which confidential computing is possible
 * @capabilities: output: none
 *
 * Return: NVML_SUCCESS. Source: ours.
 */
nvmlReturn_t nvmlSystemGetConfComputeCapabilities(nvmlConfComputeSystemCaps_t *capabilities);

/**
 * nvmlSystemGetConfComputeState() - is confidential computing on?
 * @state: output: off
 *
 * Return: NVML_SUCCESS. Source: ours.
 */
nvmlReturn_t nvmlSystemGetConfComputeState(nvmlConfComputeSystemState_t *state);

/**
 * nvmlSystemGetConfComputeSettings() - is it on, and for several devices?
 * @settings: its version set; output: off
 *
 * Return: NVML_SUCCESS, or NVML_ERROR_ARGUMENT_VERSION_MISMATCH. Source: ours.
 */
nvmlReturn_t nvmlSystemGetConfComputeSettings(nvmlSystemConfComputeSettings_t *settings);

/* ---- finding devices */

/**
 * nvmlDeviceGetCount_v2() - how many devices there are
 * @count: output; nvmlDeviceGetCount() is the same
 *
 * Return: NVML_SUCCESS. Source: recorded.
 */
nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *count);

/**
 * nvmlDeviceGetHandleByIndex_v2() - a device by its number, which is the CUDA ordinal
 * @index: 0 to the count - 1
 * @device: output; nvmlDeviceGetHandleByIndex() is the same
 *
 * Return: NVML_SUCCESS, or NVML_ERROR_INVALID_ARGUMENT: no such device. Source: recorded.
 */
nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device);

#define NVML_DEVICE_UUID_BUFFER_SIZE	80
#define NVML_DEVICE_UUID_V2_BUFFER_SIZE	96
#define NVML_DEVICE_UUID_ASCII_LEN	41
#define NVML_DEVICE_UUID_BINARY_LEN	16

/**
 * nvmlDeviceGetHandleByUUID() - a device by its UUID
 * @uuid: as nvmlDeviceGetUUID() gives it, in any case of letters
 * @device: output
 *
 * Return: NVML_SUCCESS, or NVML_ERROR_NOT_FOUND. Source: document.
 */
nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device);

typedef enum {
	NVML_UUID_TYPE_NONE	= 0,
	NVML_UUID_TYPE_ASCII	= 1,
	NVML_UUID_TYPE_BINARY	= 2,
} nvmlUUIDType_t;

typedef union {
	char str[NVML_DEVICE_UUID_ASCII_LEN];
	unsigned char bytes[NVML_DEVICE_UUID_BINARY_LEN];
} nvmlUUIDValue_t;

typedef struct {
	unsigned int version;
	unsigned int type;	/* nvmlUUIDType_t */
	nvmlUUIDValue_t value;
} nvmlUUID_v1_t;

typedef nvmlUUID_v1_t nvmlUUID_t;
#define nvmlUUID_v1	NVML_STRUCT_VERSION(UUID, 1)

/**
 * nvmlDeviceGetHandleByUUIDV() - a device by its UUID in letters or in 16 bytes
 * @uuid: its version and type set
 * @device: output
 *
 * Return: NVML_SUCCESS, NVML_ERROR_NOT_FOUND or NVML_ERROR_ARGUMENT_VERSION_MISMATCH.
 * Source: document.
 */
nvmlReturn_t nvmlDeviceGetHandleByUUIDV(const nvmlUUID_t *uuid, nvmlDevice_t *device);

/**
 * nvmlDeviceGetHandleByPciBusId_v2() - a device by its bus address
 * @address: [domain:]bus:device[.function], in hexadecimal
 * @device: output; nvmlDeviceGetHandleByPciBusId() is the same
 *
 * Return: NVML_SUCCESS; NVML_ERROR_NOT_FOUND: no device has this address; or
 * NVML_ERROR_INVALID_ARGUMENT: not an address. Source: recorded (NOT_FOUND), document.
 */
nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *address, nvmlDevice_t *device);

/* ---- constant properties of a device */

#define NVML_DEVICE_NAME_BUFFER_SIZE	64
#define NVML_DEVICE_NAME_V2_BUFFER_SIZE	96

/**
 * nvmlDeviceGetName() - the name that cuDeviceGetName() gives
 * @device: which
 * @name: buffer
 * @length: bytes there; 96 are enough
 *
 * Return: NVML_SUCCESS, or NVML_ERROR_INSUFFICIENT_SIZE. Source: recorded.
 */
nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned int length);

/**
 * nvmlDeviceGetUUID() - "GPU-" and the UUID that the module and the driver API give it
 * @device: which
 * @uuid: buffer
 * @length: bytes there; 96 are enough
 *
 * Return: NVML_SUCCESS, or NVML_ERROR_INSUFFICIENT_SIZE. Source: recorded.
 */
nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned int length);

/**
 * nvmlDeviceGetIndex() - a device's number
 * @device: which
 * @index: output; nvmlDeviceGetMinorNumber() gives the same
 *
 * Return: NVML_SUCCESS. Source: recorded.
 */
nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int *index);
nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned int *minor);

typedef enum nvmlBrandType_enum {
	NVML_BRAND_UNKNOWN	= 0,
	NVML_BRAND_NVIDIA	= 14,
	NVML_BRAND_COUNT	= 18,
} nvmlBrandType_t;

#define NVML_DEVICE_ARCH_AMPERE		7
#define NVML_DEVICE_ARCH_ADA		8
#define NVML_DEVICE_ARCH_HOPPER		9
#define NVML_DEVICE_ARCH_BLACKWELL	10
#define NVML_DEVICE_ARCH_UNKNOWN	0xffffffff
typedef unsigned int nvmlDeviceArchitecture_t;

typedef enum nvmlComputeMode_enum {
	NVML_COMPUTEMODE_DEFAULT		= 0,
	NVML_COMPUTEMODE_EXCLUSIVE_THREAD	= 1,
	NVML_COMPUTEMODE_PROHIBITED		= 2,
	NVML_COMPUTEMODE_EXCLUSIVE_PROCESS	= 3,
	NVML_COMPUTEMODE_COUNT,
} nvmlComputeMode_t;

typedef enum nvmlGpuVirtualizationMode {
	NVML_GPU_VIRTUALIZATION_MODE_NONE	= 0,
	NVML_GPU_VIRTUALIZATION_MODE_PASSTHROUGH = 1,
	NVML_GPU_VIRTUALIZATION_MODE_VGPU	= 2,
	NVML_GPU_VIRTUALIZATION_MODE_HOST_VGPU	= 3,
	NVML_GPU_VIRTUALIZATION_MODE_HOST_VSGA	= 4,
} nvmlGpuVirtualizationMode_t;

/**
 * nvmlDeviceGetBrand() - the brand; similar functions give other single properties
 * @device: which
 * @brand: output
 *
 * Architecture is NVML_DEVICE_ARCH_…, after the compute capability; cores are those of
 * all multiprocessors; the memory bus is in bits; the compute mode is the driver API's. A
 * device keeps its state without users (persistence), has no screen (display mode
 * and active), is not virtual, and is alone on its board, whose number is its bus address.
 *
 * Return: NVML_SUCCESS. Source: recorded; display, virtualization and shared boards: ours.
 */
nvmlReturn_t nvmlDeviceGetBrand(nvmlDevice_t device, nvmlBrandType_t *brand);
nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device, nvmlDeviceArchitecture_t *arch);
nvmlReturn_t nvmlDeviceGetNumGpuCores(nvmlDevice_t device, unsigned int *cores);
nvmlReturn_t nvmlDeviceGetMemoryBusWidth(nvmlDevice_t device, unsigned int *bits);
nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t device, nvmlComputeMode_t *mode);
nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t device, nvmlEnableState_t *mode);
nvmlReturn_t nvmlDeviceGetDisplayMode(nvmlDevice_t device, nvmlEnableState_t *mode);
nvmlReturn_t nvmlDeviceGetDisplayActive(nvmlDevice_t device, nvmlEnableState_t *active);
nvmlReturn_t nvmlDeviceGetVirtualizationMode(nvmlDevice_t device,
					     nvmlGpuVirtualizationMode_t *mode);
nvmlReturn_t nvmlDeviceGetBoardId(nvmlDevice_t device, unsigned int *board);
nvmlReturn_t nvmlDeviceGetMultiGpuBoard(nvmlDevice_t device, unsigned int *several);

/**
 * nvmlDeviceOnSameBoard() - are two devices on one board?
 * @first: a device
 * @second: a device
 * @same: output: 1 if they are one device, else 0
 *
 * Return: NVML_SUCCESS. Source: ours.
 */
nvmlReturn_t nvmlDeviceOnSameBoard(nvmlDevice_t first, nvmlDevice_t second, int *same);

/**
 * nvmlDeviceGetCudaComputeCapability() - the numbers that cuDeviceComputeCapability() gives
 * @device: which
 * @major: output
 * @minor: output
 *
 * Return: NVML_SUCCESS. Source: recorded.
 */
nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major, int *minor);

typedef enum nvmlClockType_enum {
	NVML_CLOCK_GRAPHICS	= 0,
	NVML_CLOCK_SM		= 1,
	NVML_CLOCK_MEM		= 2,
	NVML_CLOCK_VIDEO	= 3,
	NVML_CLOCK_COUNT,
} nvmlClockType_t;

/**
 * nvmlDeviceGetMaxClockInfo() - the driver API's clock rates
 * @device: which
 * @type: the clock
 * @mhz: output, in MHz
 *
 * Return: NVML_SUCCESS, or NVML_ERROR_NOT_SUPPORTED (video). Source: ours.
 */
nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type,
				       unsigned int *mhz);

/**
 * nvmlDeviceGetClockInfo() - clocks at the moment
 * @device: which
 * @type: the clock
 * @mhz: output, in MHz
 *
 * Return: NVML_SUCCESS (the memory's: its highest, as on an idle H100), or
 * NVML_ERROR_NOT_SUPPORTED (all others, which change with load). Source: recorded.
 */
nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type,
				    unsigned int *mhz);

/* ---- PCI: the devices are on no bus; their addresses are in domains that no machine has */

#define NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE	32
#define NVML_DEVICE_PCI_BUS_ID_BUFFER_V2_SIZE	16
#define NVML_DEVICE_PCI_BUS_ID_LEGACY_FMT	"%04X:%02X:%02X.0"
#define NVML_DEVICE_PCI_BUS_ID_FMT		"%08X:%02X:%02X.0"
#define NVML_DEVICE_PCI_BUS_ID_FMT_ARGS(info)	(info)->domain, (info)->bus, (info)->device

typedef struct nvmlPciInfo_st {
	char busIdLegacy[NVML_DEVICE_PCI_BUS_ID_BUFFER_V2_SIZE];
	unsigned int domain;
	unsigned int bus;
	unsigned int device;
	unsigned int pciDeviceId;	/* device << 16 | vendor */
	unsigned int pciSubSystemId;	/* not in nvmlDeviceGetPciInfo()'s oldest */
	char busId[NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE];	/* in nvmlDeviceGetPciInfo_v3()'s */
} nvmlPciInfo_t;

typedef struct {
	unsigned int version;
	unsigned int domain;
	unsigned int bus;
	unsigned int device;
	unsigned int pciDeviceId;
	unsigned int pciSubSystemId;
	unsigned int baseClass;
	unsigned int subClass;
	char busId[NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE];
} nvmlPciInfoExt_v1_t;

typedef nvmlPciInfoExt_v1_t nvmlPciInfoExt_t;
#define nvmlPciInfoExt_v1	NVML_STRUCT_VERSION(PciInfoExt, 1)

/**
 * nvmlDeviceGetPciInfo_v3() - the bus address that the driver API gives
 * @device: which
 * @info: output. nvmlDeviceGetPciInfo_v2() ends before busId, nvmlDeviceGetPciInfo()
 *	before pciSubSystemId.
 *
 * Return: NVML_SUCCESS. Source: recorded.
 */
nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *info);

/**
 * nvmlDeviceGetPciInfoExt() - the same, and the class: a 3D controller
 * @device: which
 * @info: its version set; output
 *
 * Return: NVML_SUCCESS, or NVML_ERROR_ARGUMENT_VERSION_MISMATCH. Source: document.
 */
nvmlReturn_t nvmlDeviceGetPciInfoExt(nvmlDevice_t device, nvmlPciInfoExt_t *info);

#define NVML_BUS_TYPE_UNKNOWN	0
#define NVML_BUS_TYPE_PCI	1
#define NVML_BUS_TYPE_PCIE	2
typedef unsigned int nvmlBusType_t;

#define NVML_PCIE_LINK_MAX_SPEED_32000MBPS	5

/**
 * nvmlDeviceGetBusType() - the bus type; similar functions give properties of PCI Express
 * @device: which
 * @type: output
 *
 * Generations and widths (lanes), which are always the largest; the largest speed as
 * NVML_PCIE_LINK_MAX_SPEED_…, and the speed of a lane in Mbit/s.
 *
 * Return: NVML_SUCCESS. Source: recorded.
 */
nvmlReturn_t nvmlDeviceGetBusType(nvmlDevice_t device, nvmlBusType_t *type);
nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t device, unsigned int *generation);
nvmlReturn_t nvmlDeviceGetGpuMaxPcieLinkGeneration(nvmlDevice_t device,
						   unsigned int *generation);
nvmlReturn_t nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t device, unsigned int *generation);
nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t device, unsigned int *width);
nvmlReturn_t nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t device, unsigned int *width);
nvmlReturn_t nvmlDeviceGetPcieLinkMaxSpeed(nvmlDevice_t device, unsigned int *speed);
nvmlReturn_t nvmlDeviceGetPcieSpeed(nvmlDevice_t device, unsigned int *speed);

/* ---- memory, and the processes that hold it */

typedef struct nvmlMemory_st {
	unsigned long long total;
	unsigned long long free;
	unsigned long long used;
} nvmlMemory_t;

typedef struct nvmlMemory_v2_st {
	unsigned int version;
	unsigned long long total;
	unsigned long long reserved;
	unsigned long long free;
	unsigned long long used;
} nvmlMemory_v2_t;

#define nvmlMemory_v2	NVML_STRUCT_VERSION(Memory, 2)

/**
 * nvmlDeviceGetMemoryInfo() - a device's pool
 * @device: which
 * @memory: output, in bytes; of all processes together
 *
 * Return: NVML_SUCCESS. Source: recorded.
 */
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory);

/**
 * nvmlDeviceGetMemoryInfo_v2() - the same, and the reserved part: 0
 * @device: which
 * @memory: its version set; output, in bytes
 *
 * Return: NVML_SUCCESS, or NVML_ERROR_ARGUMENT_VERSION_MISMATCH. Source: document.
 */
nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory);

typedef struct nvmlProcessInfo_v1_st {
	unsigned int pid;
	unsigned long long usedGpuMemory;
} nvmlProcessInfo_v1_t;

typedef struct nvmlProcessInfo_v2_st {
	unsigned int pid;
	unsigned long long usedGpuMemory;	/* bytes */
	unsigned int gpuInstanceId;		/* ~0: devices have none */
	unsigned int computeInstanceId;
} nvmlProcessInfo_v2_t;

typedef nvmlProcessInfo_v2_t nvmlProcessInfo_t;

/**
 * nvmlDeviceGetComputeRunningProcesses_v3() - the processes that hold memory of a device
 * @device: which
 * @count: how many @infos there is room for; output: how many there are
 * @infos: array, or NULL if @count is 0
 *
 * Users see their own processes, root all. The older functions differ in @infos. The lists
 * of graphics and MPS processes are empty.
 *
 * Return: NVML_SUCCESS, or NVML_ERROR_INSUFFICIENT_SIZE with *@count written.
 * Source: document; which processes a user sees: ours.
 */
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int *count,
						     nvmlProcessInfo_t *infos);
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t device, unsigned int *count,
						      nvmlProcessInfo_t *infos);
nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v3(nvmlDevice_t device,
							unsigned int *count,
							nvmlProcessInfo_t *infos);

#define NVML_AFFINITY_SCOPE_NODE	0
#define NVML_AFFINITY_SCOPE_SOCKET	1
typedef unsigned int nvmlAffinityScope_t;

/**
 * nvmlDeviceGetCpuAffinity() - the CPUs of a device's NUMA node
 * @device: which
 * @words: how many @set has
 * @set: array, output: bit N is CPU N
 *
 * With a scope it is the same: each node is a socket. The memory affinity is the node itself.
 *
 * Return: NVML_SUCCESS. Source: document.
 */
nvmlReturn_t nvmlDeviceGetCpuAffinity(nvmlDevice_t device, unsigned int words,
				      unsigned long *set);
nvmlReturn_t nvmlDeviceGetCpuAffinityWithinScope(nvmlDevice_t device, unsigned int words,
						 unsigned long *set, nvmlAffinityScope_t scope);
nvmlReturn_t nvmlDeviceGetMemoryAffinity(nvmlDevice_t device, unsigned int words,
					 unsigned long *set, nvmlAffinityScope_t scope);

/**
 * nvmlDeviceSetCpuAffinity() - run the calling thread near a device
 * @device: which; nvmlDeviceClearCpuAffinity() lets it run anywhere again
 *
 * Return: NVML_SUCCESS, or NVML_ERROR_UNKNOWN: the thread may not run on these CPUs.
 * Source: document.
 */
nvmlReturn_t nvmlDeviceSetCpuAffinity(nvmlDevice_t device);
nvmlReturn_t nvmlDeviceClearCpuAffinity(nvmlDevice_t device);

/* ---- links, which devices that can multicast have, and the fabric */

#define NVML_NVLINK_MAX_LINKS	18

typedef enum nvmlNvLinkCapability_enum {
	NVML_NVLINK_CAP_P2P_SUPPORTED	= 0,
	NVML_NVLINK_CAP_SYSMEM_ACCESS	= 1,
	NVML_NVLINK_CAP_P2P_ATOMICS	= 2,
	NVML_NVLINK_CAP_SYSMEM_ATOMICS	= 3,
	NVML_NVLINK_CAP_SLI_BRIDGE	= 4,
	NVML_NVLINK_CAP_VALID		= 5,
	NVML_NVLINK_CAP_COUNT,
} nvmlNvLinkCapability_t;

typedef enum nvmlNvLinkErrorCounter_enum {
	NVML_NVLINK_ERROR_DL_REPLAY	= 0,
	NVML_NVLINK_ERROR_DL_RECOVERY	= 1,
	NVML_NVLINK_ERROR_DL_CRC_FLIT	= 2,
	NVML_NVLINK_ERROR_DL_CRC_DATA	= 3,
	NVML_NVLINK_ERROR_DL_ECC_DATA	= 4,
	NVML_NVLINK_ERROR_COUNT,
} nvmlNvLinkErrorCounter_t;

typedef enum nvmlIntNvLinkDeviceType_enum {
	NVML_NVLINK_DEVICE_TYPE_GPU	= 0,
	NVML_NVLINK_DEVICE_TYPE_IBMNPU	= 1,
	NVML_NVLINK_DEVICE_TYPE_SWITCH	= 2,
	NVML_NVLINK_DEVICE_TYPE_UNKNOWN	= 255,
} nvmlIntNvLinkDeviceType_t;

typedef enum nvmlNvlinkVersion_enum {
	NVML_NVLINK_VERSION_INVALID	= 0,
	NVML_NVLINK_VERSION_1_0		= 1,
	NVML_NVLINK_VERSION_2_0		= 2,
	NVML_NVLINK_VERSION_2_2		= 3,
	NVML_NVLINK_VERSION_3_0		= 4,
	NVML_NVLINK_VERSION_3_1		= 5,
	NVML_NVLINK_VERSION_4_0		= 6,
	NVML_NVLINK_VERSION_5_0		= 7,
} nvmlNvlinkVersion_t;

/**
 * nvmlDeviceGetNvLinkState() - is a link enabled? Similar functions give its other properties
 * @device: which
 * @link: its number
 * @active: output: enabled
 *
 * All links of a device are alike and go to a switch that the machine does not see: its
 * bus address is FFFFFFFF:FF:FF.0. Links carry nothing, so error counters read 0.
 * nvmlDeviceGetNvLinkRemotePciInfo(), the older one, ends before busId.
 *
 * Return: NVML_SUCCESS; NVML_ERROR_INVALID_ARGUMENT: no such link (capability, counter);
 * NVML_ERROR_NOT_SUPPORTED: devices cannot multicast, so there are none. Which of the two
 * comes first is as recorded. Source: recorded; counters: document.
 */
nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned int link,
				      nvmlEnableState_t *active);
nvmlReturn_t nvmlDeviceGetNvLinkVersion(nvmlDevice_t device, unsigned int link,
					unsigned int *version);
nvmlReturn_t nvmlDeviceGetNvLinkCapability(nvmlDevice_t device, unsigned int link,
					   nvmlNvLinkCapability_t capability,
					   unsigned int *yes);
nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device, unsigned int link,
						 nvmlPciInfo_t *info);
nvmlReturn_t nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t device, unsigned int link,
						 nvmlIntNvLinkDeviceType_t *type);
nvmlReturn_t nvmlDeviceGetNvLinkErrorCounter(nvmlDevice_t device, unsigned int link,
					     nvmlNvLinkErrorCounter_t counter,
					     unsigned long long *errors);
nvmlReturn_t nvmlDeviceResetNvLinkErrorCounters(nvmlDevice_t device, unsigned int link);

#define NVML_GPU_FABRIC_UUID_LEN		16
#define NVML_GPU_FABRIC_STATE_NOT_SUPPORTED	0
#define NVML_GPU_FABRIC_STATE_NOT_STARTED	1
#define NVML_GPU_FABRIC_STATE_IN_PROGRESS	2
#define NVML_GPU_FABRIC_STATE_COMPLETED		3
typedef unsigned char nvmlGpuFabricState_t;

#define NVML_GPU_FABRIC_HEALTH_SUMMARY_NOT_SUPPORTED	0
#define NVML_GPU_FABRIC_HEALTH_SUMMARY_HEALTHY		1
#define NVML_GPU_FABRIC_HEALTH_SUMMARY_UNHEALTHY	2

typedef struct {
	unsigned char clusterUuid[NVML_GPU_FABRIC_UUID_LEN];
	nvmlReturn_t status;
	unsigned int cliqueId;
	nvmlGpuFabricState_t state;
} nvmlGpuFabricInfo_t;

typedef struct {
	unsigned int version;
	unsigned char clusterUuid[NVML_GPU_FABRIC_UUID_LEN];
	nvmlReturn_t status;
	unsigned int cliqueId;
	nvmlGpuFabricState_t state;
	unsigned int healthMask;
} nvmlGpuFabricInfo_v2_t;

typedef struct {
	unsigned int version;
	unsigned char clusterUuid[NVML_GPU_FABRIC_UUID_LEN];
	nvmlReturn_t status;
	unsigned int cliqueId;
	nvmlGpuFabricState_t state;
	unsigned int healthMask;
	unsigned char healthSummary;
} nvmlGpuFabricInfo_v3_t;

typedef nvmlGpuFabricInfo_v3_t nvmlGpuFabricInfoV_t;
#define nvmlGpuFabricInfo_v2	NVML_STRUCT_VERSION(GpuFabricInfo, 2)
#define nvmlGpuFabricInfo_v3	NVML_STRUCT_VERSION(GpuFabricInfo, 3)

/**
 * nvmlDeviceGetGpuFabricInfoV() - the state of the fabric, its cluster and its clique
 * @device: which
 * @info: its version set, 2 or 3; output. nvmlDeviceGetGpuFabricInfo(), the older one,
 *	has no version and no health.
 *
 * From the module's parameters: fabric_state (ready: completed; not_ready: in progress;
 * illegal: completed with status NVML_ERROR_INVALID_STATE), fabric_cluster,
 * fabric_clique; not supported where devices cannot multicast. While that fabric_state
 * is ready, the device's own in /sys/class/memcast/memcastN counts (in_progress, and
 * failed, which is as illegal). Health is 0 unless the fabric is illegal.
 *
 * Return: NVML_SUCCESS, or NVML_ERROR_ARGUMENT_VERSION_MISMATCH.
 * Source: recorded (ready, and no multicast); else ours.
 */
nvmlReturn_t nvmlDeviceGetGpuFabricInfoV(nvmlDevice_t device, nvmlGpuFabricInfoV_t *info);
nvmlReturn_t nvmlDeviceGetGpuFabricInfo(nvmlDevice_t device, nvmlGpuFabricInfo_t *info);

typedef enum nvmlGpuP2PStatus_enum {
	NVML_P2P_STATUS_OK = 0,
	NVML_P2P_STATUS_CHIPSET_NOT_SUPPORTED,
	NVML_P2P_STATUS_CHIPSET_NOT_SUPPORED = NVML_P2P_STATUS_CHIPSET_NOT_SUPPORTED,
	NVML_P2P_STATUS_GPU_NOT_SUPPORTED,
	NVML_P2P_STATUS_IOH_TOPOLOGY_NOT_SUPPORTED,
	NVML_P2P_STATUS_DISABLED_BY_REGKEY,
	NVML_P2P_STATUS_NOT_SUPPORTED,
	NVML_P2P_STATUS_UNKNOWN,
} nvmlGpuP2PStatus_t;

typedef enum nvmlGpuP2PCapsIndex_enum {
	NVML_P2P_CAPS_INDEX_READ	= 0,
	NVML_P2P_CAPS_INDEX_WRITE	= 1,
	NVML_P2P_CAPS_INDEX_NVLINK	= 2,
	NVML_P2P_CAPS_INDEX_ATOMICS	= 3,
	NVML_P2P_CAPS_INDEX_PCI		= 4,
	NVML_P2P_CAPS_INDEX_PROP	= NVML_P2P_CAPS_INDEX_PCI,
	NVML_P2P_CAPS_INDEX_UNKNOWN	= 5,
} nvmlGpuP2PCapsIndex_t;

/**
 * nvmlDeviceGetP2PStatus() - the access of one device to another
 * @first: a device
 * @second: a device, or the same
 * @index: the kind of access
 * @status: output
 *
 * With links: all but PCI. Without: reading and writing, over PCI.
 *
 * Return: NVML_SUCCESS. Source: recorded (with links, and one device without); else ours.
 */
nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t first, nvmlDevice_t second,
				    nvmlGpuP2PCapsIndex_t index, nvmlGpuP2PStatus_t *status);

typedef enum nvmlGpuLevel_enum {
	NVML_TOPOLOGY_INTERNAL		= 0,
	NVML_TOPOLOGY_SINGLE		= 10,
	NVML_TOPOLOGY_MULTIPLE		= 20,
	NVML_TOPOLOGY_HOSTBRIDGE	= 30,
	NVML_TOPOLOGY_NODE		= 40,
	NVML_TOPOLOGY_SYSTEM		= 50,
} nvmlGpuTopologyLevel_t;

/**
 * nvmlDeviceGetTopologyCommonAncestor() - how near two devices are
 * @first: a device
 * @second: another
 * @level: output: host bridge if they are on one NUMA node, else system
 *
 * Return: NVML_SUCCESS, or NVML_ERROR_NOT_SUPPORTED: they are one. Source: recorded.
 */
nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t first, nvmlDevice_t second,
						 nvmlGpuTopologyLevel_t *level);

/**
 * nvmlDeviceGetTopologyNearestGpus() - the other devices up to a distance
 * @device: distances are from this one
 * @level: the largest distance
 * @count: as nvmlSystemGetTopologyGpuSet() has it
 * @devices: array
 *
 * Return: NVML_SUCCESS. Source: document.
 */
nvmlReturn_t nvmlDeviceGetTopologyNearestGpus(nvmlDevice_t device, nvmlGpuTopologyLevel_t level,
					      unsigned int *count, nvmlDevice_t *devices);

/* ---- fields */

#define NVML_FI_DEV_NVLINK_SPEED_MBPS_L0		84
#define NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON		90
#define NVML_FI_DEV_NVLINK_LINK_COUNT			91
#define NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX		138
#define NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX		139
#define NVML_FI_DEV_NVLINK_THROUGHPUT_RAW_TX		140
#define NVML_FI_DEV_NVLINK_THROUGHPUT_RAW_RX		141
#define NVML_FI_DEV_REMAPPED_COR			142
#define NVML_FI_DEV_REMAPPED_UNC			143
#define NVML_FI_DEV_REMAPPED_PENDING			144
#define NVML_FI_DEV_REMAPPED_FAILURE			145
#define NVML_FI_DEV_NVLINK_REMOTE_NVLINK_ID		146
#define NVML_FI_DEV_NVSWITCH_CONNECTED_LINK_COUNT	147
#define NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_TOTAL	160
#define NVML_FI_DEV_NVLINK_ERROR_DL_REPLAY		161
#define NVML_FI_DEV_NVLINK_ERROR_DL_RECOVERY		162
#define NVML_FI_DEV_NVLINK_ERROR_DL_CRC			163
#define NVML_FI_DEV_NVLINK_GET_SPEED			164
#define NVML_FI_DEV_NVLINK_GET_STATE			165
#define NVML_FI_DEV_NVLINK_GET_VERSION			166
#define NVML_FI_DEV_NVLINK_GET_POWER_STATE		167
#define NVML_FI_DEV_NVLINK_GET_POWER_THRESHOLD		168
#define NVML_FI_DEV_PCIE_L0_TO_RECOVERY_COUNTER		169
#define NVML_FI_DEV_C2C_LINK_COUNT			170
#define NVML_FI_MAX					274

typedef enum nvmlValueType_enum {
	NVML_VALUE_TYPE_DOUBLE			= 0,
	NVML_VALUE_TYPE_UNSIGNED_INT		= 1,
	NVML_VALUE_TYPE_UNSIGNED_LONG		= 2,
	NVML_VALUE_TYPE_UNSIGNED_LONG_LONG	= 3,
	NVML_VALUE_TYPE_SIGNED_LONG_LONG	= 4,
	NVML_VALUE_TYPE_SIGNED_INT		= 5,
	NVML_VALUE_TYPE_UNSIGNED_SHORT		= 6,
	NVML_VALUE_TYPE_COUNT,
} nvmlValueType_t;

typedef union nvmlValue_st {
	double dVal;
	int siVal;
	unsigned int uiVal;
	unsigned long ulVal;
	unsigned long long ullVal;
	signed long long sllVal;
	unsigned short usVal;
} nvmlValue_t;

typedef struct nvmlFieldValue_st {
	unsigned int fieldId;
	unsigned int scopeId;		/* a link, or ~0 for all of them together */
	long long timestamp;		/* µs since 1970 */
	long long latencyUsec;
	nvmlValueType_t valueType;
	nvmlReturn_t nvmlReturn;
	nvmlValue_t value;
} nvmlFieldValue_t;

/**
 * nvmlDeviceGetFieldValues() - several values at once
 * @device: which
 * @count: how many @values
 * @values: fieldId and scopeId set; output: the rest, each with its own result
 *
 * Result of a field: NVML_SUCCESS; NVML_ERROR_NOT_SUPPORTED: it is about links and there are
 * none, or it is not in the list above; NVML_ERROR_INVALID_ARGUMENT: no such field or link.
 * Counters read 0, so nvmlDeviceClearFieldValues() has nothing to clear.
 *
 * Return: NVML_SUCCESS. Source: recorded; links by number: document.
 */
nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t *values);
nvmlReturn_t nvmlDeviceClearFieldValues(nvmlDevice_t device, int count,
					nvmlFieldValue_t *values);

/* ---- memory */

/**
 * nvmlDeviceGetRemappedRows() - rows of memory that errors made a device replace
 * @device: which
 * @correctable: output: 0
 * @uncorrectable: output: 0
 * @pending: output: 0, no row is replaced at the next reset
 * @failure: output: 0, no replacement has failed
 *
 * Return: NVML_SUCCESS. Source: recorded (nvidia-smi).
 */
nvmlReturn_t nvmlDeviceGetRemappedRows(nvmlDevice_t device, unsigned int *correctable,
				       unsigned int *uncorrectable, unsigned int *pending,
				       unsigned int *failure);

#define NVML_DEVICE_ADDRESSING_MODE_NONE	0
#define NVML_DEVICE_ADDRESSING_MODE_HMM		1
#define NVML_DEVICE_ADDRESSING_MODE_ATS		2

typedef struct {
	unsigned int version;		/* nvmlDeviceAddressingMode_v1 */
	unsigned int value;		/* NVML_DEVICE_ADDRESSING_MODE_… */
} nvmlDeviceAddressingMode_v1_t;
typedef nvmlDeviceAddressingMode_v1_t nvmlDeviceAddressingMode_t;

#define nvmlDeviceAddressingMode_v1	NVML_STRUCT_VERSION(DeviceAddressingMode, 1)

/**
 * nvmlDeviceGetAddressingMode() - does a device use the page tables of the CPU?
 * @device: which
 * @mode: input: version; output: value: none
 *
 * Return: NVML_SUCCESS; NVML_ERROR_ARGUMENT_VERSION_MISMATCH. Source: recorded (nvidia-smi).
 */
nvmlReturn_t nvmlDeviceGetAddressingMode(nvmlDevice_t device, nvmlDeviceAddressingMode_t *mode);

/* ---- where a device is */

typedef struct {
	unsigned int version;		/* nvmlPlatformInfo_v2 */
	unsigned char ibGuid[16];
	unsigned char chassisSerialNumber[16];
	unsigned char slotNumber;
	unsigned char trayIndex;
	unsigned char hostId;
	unsigned char peerType;
	unsigned char moduleId;
} nvmlPlatformInfo_v2_t;
typedef nvmlPlatformInfo_v2_t nvmlPlatformInfo_t;

#define nvmlPlatformInfo_v2	NVML_STRUCT_VERSION(PlatformInfo, 2)

/**
 * nvmlDeviceGetPlatformInfo() - a device's place in a rack
 * @device: which
 * @info: input: version; output: zeros, as there is no rack, and 1 as the host's number
 *
 * Return: NVML_SUCCESS; NVML_ERROR_ARGUMENT_VERSION_MISMATCH, also for version 1.
 * Source: recorded (nvidia-smi), but for the module's number.
 */
nvmlReturn_t nvmlDeviceGetPlatformInfo(nvmlDevice_t device, nvmlPlatformInfo_t *info);

/* ---- instances of devices (MIG): none */

#define NVML_DEVICE_MIG_DISABLE	0
#define NVML_DEVICE_MIG_ENABLE	1

/**
 * nvmlDeviceGetMigMode() - is a device split?
 * @device: which
 * @current: output: no
 * @pending: output: no
 *
 * So a device has at most 0 instances, no handle is one, and a call that looks for one finds
 * none (NVML_ERROR_NOT_FOUND; the device of an instance: NVML_ERROR_INVALID_ARGUMENT).
 *
 * Return: NVML_SUCCESS. Source: recorded (mode); else ours.
 */
nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned int *current,
				  unsigned int *pending);
nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, unsigned int *count);
nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, unsigned int *yes);
nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device, unsigned int index,
						 nvmlDevice_t *instance);
nvmlReturn_t nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t instance,
							  nvmlDevice_t *device);

/* ---- events: no event ever happens */

typedef struct nvmlEventSet_st *nvmlEventSet_t;

typedef struct nvmlEventData_st {
	nvmlDevice_t device;
	unsigned long long eventType;
	unsigned long long eventData;
	unsigned int gpuInstanceId;
	unsigned int computeInstanceId;
} nvmlEventData_t;

/**
 * nvmlEventSetCreate() - a set of events to wait for
 * @set: output; nvmlEventSetFree() ends it
 *
 * Return: NVML_SUCCESS. Source: document.
 */
nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t *set);
nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set);

/**
 * nvmlDeviceGetSupportedEventTypes() - the events that a device has
 * @device: which
 * @types: output: 0
 *
 * Return: NVML_SUCCESS. Source: ours.
 */
nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t device, unsigned long long *types);

/**
 * nvmlDeviceRegisterEvents() - put events of a device into a set
 * @device: which
 * @types: mask
 * @set: of nvmlEventSetCreate()
 *
 * Return: NVML_SUCCESS if @types is 0, else NVML_ERROR_NOT_SUPPORTED. Source: ours.
 */
nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long types,
				      nvmlEventSet_t set);

/**
 * nvmlEventSetWait_v2() - wait for an event
 * @set: of nvmlEventSetCreate()
 * @data: not written, as there are no events; nvmlEventSetWait() is the same
 * @milliseconds: for how long
 *
 * Return: NVML_ERROR_TIMEOUT, after that time. Source: document.
 */
nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t *data,
				 unsigned int milliseconds);

/* ---- not supported, but often called by programs */

typedef struct nvmlUtilization_st {
	unsigned int gpu;
	unsigned int memory;
} nvmlUtilization_t;

typedef struct nvmlBAR1Memory_st {
	unsigned long long bar1Total;
	unsigned long long bar1Free;
	unsigned long long bar1Used;
} nvmlBAR1Memory_t;

typedef enum nvmlTemperatureSensors_enum {
	NVML_TEMPERATURE_GPU	= 0,
	NVML_TEMPERATURE_COUNT,
} nvmlTemperatureSensors_t;

typedef enum nvmlPStates_enum {
	NVML_PSTATE_0		= 0,
	NVML_PSTATE_15		= 15,
	NVML_PSTATE_UNKNOWN	= 32,
} nvmlPstates_t;

/*
 * There is no board with a number or a firmware, no power, temperature or fan,
 * engines are not measured, memory has no errors to correct and is not visible on a
 * bus. Programs are prepared for that, as hardware differs as well.
 *
 * Return: NVML_ERROR_NOT_SUPPORTED, whatever the arguments. Source: recorded
 * (nvmlDeviceGetNumaNodeId); else ours.
 */
nvmlReturn_t nvmlDeviceGetSerial(nvmlDevice_t device, char *serial, unsigned int length);
nvmlReturn_t nvmlDeviceGetVbiosVersion(nvmlDevice_t device, char *version, unsigned int length);
nvmlReturn_t nvmlDeviceGetModuleId(nvmlDevice_t device, unsigned int *module);
nvmlReturn_t nvmlDeviceGetNumaNodeId(nvmlDevice_t device, unsigned int *node);
nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int *milliwatts);
nvmlReturn_t nvmlDeviceGetPowerManagementLimit(nvmlDevice_t device, unsigned int *milliwatts);
nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device, unsigned int *milliwatts);
nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device,
						 unsigned long long *millijoules);
nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t sensor,
				      unsigned int *celsius);
nvmlReturn_t nvmlDeviceGetFanSpeed(nvmlDevice_t device, unsigned int *percent);
nvmlReturn_t nvmlDeviceGetPerformanceState(nvmlDevice_t device, nvmlPstates_t *state);
nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *rates);
nvmlReturn_t nvmlDeviceGetPcieReplayCounter(nvmlDevice_t device, unsigned int *count);
nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t device, nvmlEnableState_t *current,
				  nvmlEnableState_t *pending);
nvmlReturn_t nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t device, nvmlBAR1Memory_t *memory);

#ifdef NVML_NO_UNVERSIONED_FUNC_DEFS
nvmlReturn_t nvmlInit(void);
nvmlReturn_t nvmlDeviceGetCount(unsigned int *count);
nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned int index, nvmlDevice_t *device);
nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char *address, nvmlDevice_t *device);
nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_t *info);
nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t *info);
nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo(nvmlDevice_t device, unsigned int link,
					      nvmlPciInfo_t *info);
nvmlReturn_t nvmlEventSetWait(nvmlEventSet_t set, nvmlEventData_t *data,
			      unsigned int milliseconds);
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t device, unsigned int *count,
						  nvmlProcessInfo_v1_t *infos);
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t device, unsigned int *count,
						     nvmlProcessInfo_v2_t *infos);
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses(nvmlDevice_t device, unsigned int *count,
						   nvmlProcessInfo_v1_t *infos);
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v2(nvmlDevice_t device, unsigned int *count,
						      nvmlProcessInfo_v2_t *infos);
nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses(nvmlDevice_t device, unsigned int *count,
						     nvmlProcessInfo_v1_t *infos);
nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v2(nvmlDevice_t device,
							unsigned int *count,
							nvmlProcessInfo_v2_t *infos);
#endif

#ifdef __cplusplus
}
#endif

#endif /* __nvml_nvml_h__ */
