/* SPDX-License-Identifier: MIT */
/*
 * For model_test.c: the answers that calls should give, worked out without memcast.
 *
 * Eight processes, the workers, have a device each. model.c has the state; model_rules.c says what
 * a call should answer, from the API and not from the module; model_effects.c what the call
 * changes; model_choice.c invents calls; model_worker.c makes them.
 */
#ifndef MEMCAST_MODEL_H
#define MEMCAST_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cuda.h>

#define WORKERS		8
#define DEVICES		8
#define CHUNK_BYTES	(2UL << 20)
#define MOST_CHUNKS	8		/* per object */
#define LOOKS		32		/* addresses that one call looks at */
#define UNTOUCHED	0xfeedfacecafebeefULL
#define UNTOUCHED_TYPE	((CUmemAllocationType)0x5afe)
#define ON_HOST		100		/* in place of a device: NUMA node 0 */
#define NOT_AN_FD	(-1)
#define FOREIGN_FD	(-2)

enum function {
	CREATE, RELEASE, RETAIN, PROPERTIES, GRANULARITY, EXPORT, IMPORT,
	RESERVE, FREE, MAP, UNMAP, SET_ACCESS, GET_ACCESS,
	TEAM_CREATE, TEAM_GRANULARITY, TEAM_ADD,
	BIND_MEMORY, BIND_MEMORY_V2, BIND_ADDRESS, BIND_ADDRESS_V2, UNBIND,
	FILL, COPY_IN, COPY_OUT, COPY, LOOK, STORE,
	VIEW_CREATE, VIEW_DESTROY, CLOSE,
	FUNCTIONS
};

struct call {
	enum function function;
	unsigned int worker;
	uint64_t handle, memory;	/* binds name the team in @handle */
	int device;			/* TEAM_CREATE: numDevices */
	bool host;			/* CREATE: @device is a NUMA node */
	uint64_t address, from, bytes, offset, memory_offset;
	uint64_t flags, types;
	int kind;			/* of an allocation, or of a granularity */
	uint32_t compression, rdma;
	uint32_t value, width;
	unsigned int count;		/* of access entries or looks */
	struct { int device; unsigned int flags; } access[3];
	int fd;				/* index of model.fd, or a constant above */
	unsigned int view;		/* index of model.view */
	uint64_t look[LOOKS];
};

struct answer {
	CUresult result;
	int signal;			/* STORE: the signal that it raised */
	uint64_t out;
	uint32_t words[2];		/* COPY_OUT: the words that it read */
	bool cloexec;
	CUmemAllocationProp prop;
	unsigned int replicas;
	uint64_t replica[DEVICES];
	struct { int signal; uint32_t value; } seen[LOOKS];
};

enum place { HEAD, TAIL };		/* first and last word of a chunk */

struct object {
	bool alive, team;
	uint64_t types;
	unsigned int chunks, rdma, compression;
	int device;			/* memory: device, or ON_HOST; team: number of devices */
	int joined[DEVICES], joined_count;
	uint32_t word[MOST_CHUNKS][2];	/* contents, by chunk and place */
};

/* Without references, a handle stays valid as long as an object is mapped by it. */
struct handle {
	uint64_t value;
	unsigned int references;
	struct object *object;
	bool imported;			/* an imported memory cannot be exported */
};

struct reservation {
	uint64_t address, bytes;
};

struct mapping {
	struct object *object;
	uint64_t handle;		/* the handle by which it was mapped */
	unsigned int worker;
	uint64_t address, bytes;
	unsigned int access[DEVICES];
};

struct view {
	struct object *object;
	uint64_t handle;		/* the handle by which it was made */
	unsigned int worker;
	uint64_t offset, bytes, replica[DEVICES];
};

struct binding {
	struct object *team, *memory;
	int device;
	unsigned int at, from, chunks, bind;	/* @bind: number of the call that made it */
};

#define HANDLES		12
#define RESERVATIONS	5
#define OBJECTS		40
#define MAPPINGS	64
#define VIEWS		12
#define BINDINGS	128
#define FDS		12

struct model {
	unsigned int pool_chunks[DEVICES], binds;
	uint64_t recommended;
	bool channels;			/* fabric handles may work, so no call uses them */
	bool nodes;			/* more than one NUMA node: no memory on the host */
	uint64_t old_handle[WORKERS];	/* values of handles that are released */
	unsigned int first_worker, busy_workers;	/* the workers that make calls */
	struct object object[OBJECTS];
	struct handle handle[WORKERS][HANDLES];
	struct reservation reservation[WORKERS][RESERVATIONS];
	struct mapping mapping[MAPPINGS];
	struct view view[VIEWS];
	struct binding binding[BINDINGS];
	struct { int fd; struct object *object; } fd[FDS];
};

#define for_each(thing, array)						\
	for (typeof(&(array)[0]) thing = (array);			\
	     thing < (array) + sizeof(array) / sizeof((array)[0]); thing++)

/* model_rules.c: a CUresult; or WAITS; or UNSAID: the API does not say, or the model has no room */
#define WAITS	(-1)
#define UNSAID	(-2)
int model_expect(struct model *model, const struct call *call);

/* The pieces of memory that a bind takes. Return: how many; 0 if there is no such memory */
struct piece {
	struct object *memory;
	unsigned int from, chunks;
};
int model_pieces(struct model *model, const struct call *call,
		 struct piece pieces[MOST_CHUNKS]);

/*
 * model_effects.c: applies a call's effects to the model, if the call answered as expected. Return:
 * NULL, or how its outputs differ
 */
const char *model_settle(struct model *model, const struct call *call,
			 const struct answer *answer);

/* Return: the device for which a bind takes memory; -1 if the caller has to say */
int model_bind_device(const struct call *call, const struct object *memory);

/* model.c */
/* An access of the processor to @address. Return: a signal, or 0, with the word in @word */
int model_touch(struct model *model, unsigned int worker, uint64_t address, bool store,
		uint32_t **word);
/* Ends objects without users, and bindings without their team or memory. */
void model_end_unused(struct model *model);
void model_kill(struct model *model, unsigned int worker);
unsigned int model_free_chunks(const struct model *model, int device);

struct handle *model_handle(struct model *model, unsigned int worker, uint64_t value);
struct object *model_object(struct model *model, unsigned int worker, uint64_t value);
struct reservation *model_reservation(struct model *model, unsigned int worker,
				      uint64_t address);
struct mapping *model_mapping(struct model *model, unsigned int worker, uint64_t address);
struct binding *model_binding(struct model *model, const struct object *team, int device,
			      unsigned int chunk);
/* Finds the words that a store to all replicas reaches; a load reads the first of them. */
unsigned int model_words(struct model *model, const struct mapping *mapping,
			 uint64_t address, uint32_t *words[DEVICES]);
bool model_complete(const struct object *object);
bool model_member(const struct object *team, int device);

/* model_choice.c */
uint32_t choice_random(uint64_t *state, uint32_t below);
/* Chooses a call that succeeds or one that fails; or one that waits, if there is any. */
void choose_call(struct model *model, uint64_t *random, bool valid, struct call *call);
/* Return: false if there is nothing left to clean up */
bool choose_clean_up(struct model *model, uint64_t *random, struct call *call);
const char *call_in_words(const struct call *call);
const char *result_in_words(int result);

/* model_worker.c: makes calls until the link ends */
void work(unsigned int worker, int link);

#endif /* MEMCAST_MODEL_H */
