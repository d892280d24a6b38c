/* SPDX-License-Identifier: MIT */
/*
 * For model_test.c: what calls should answer, worked out without memcast.
 *
 * Eight processes, the workers, have a device each. model.c has what exists;
 * model_rules.c what a call should answer, from the API and not from the module;
 * model_effects.c what it changes; model_choice.c invents calls; model_worker.c
 * makes them.
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
#define MOST_CHUNKS	8		/* of an object */
#define LOOKS		32		/* addresses looked at in one call */
#define UNTOUCHED	0xfeedfacecafebeefULL
#define UNTOUCHED_TYPE	((CUmemAllocationType)0x5afe)
#define ON_HOST		100		/* instead of a device: NUMA node 0 */
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
	uint64_t handle, memory;	/* a team's in binds is @handle */
	int device;			/* numDevices of TEAM_CREATE */
	bool host;			/* CREATE: @device is a NUMA node */
	uint64_t address, from, bytes, offset, memory_offset;
	uint64_t flags, types;
	int kind;			/* of allocation; what a granularity is of */
	uint32_t compression, rdma;
	uint32_t value, width;
	unsigned int count;		/* of access or looks */
	struct { int device; unsigned int flags; } access[3];
	int fd;				/* index of model.fd, or one of the above */
	unsigned int view;		/* index of model.view */
	uint64_t look[LOOKS];
};

struct answer {
	CUresult result;
	int signal;			/* of STORE */
	uint64_t out;
	uint32_t words[2];		/* what COPY_OUT read */
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
	int device;			/* memory: where, or ON_HOST; team: for how many */
	int joined[DEVICES], joined_count;
	uint32_t word[MOST_CHUNKS][2];	/* contents, by chunk and place */
};

/* Without references it stays as long as something was mapped by it. */
struct handle {
	uint64_t value;
	unsigned int references;
	struct object *object;
	bool imported;			/* a memory's: it cannot be exported */
};

struct reservation {
	uint64_t address, bytes;
};

struct mapping {
	struct object *object;
	uint64_t handle;		/* that it was mapped by */
	unsigned int worker;
	uint64_t address, bytes;
	unsigned int access[DEVICES];
};

struct view {
	struct object *object;
	uint64_t handle;		/* that it was made by */
	unsigned int worker;
	uint64_t offset, bytes, replica[DEVICES];
};

struct binding {
	struct object *team, *memory;
	int device;
	unsigned int at, from, chunks, bind;	/* @bind: the call it came from */
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
	bool channels;			/* fabric handles may work: not asked for */
	bool nodes;			/* more than one NUMA node: nothing on the host */
	uint64_t old_handle[WORKERS];	/* values that nothing has, or has no more */
	unsigned int first_worker, busy_workers;	/* which of them make calls */
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

/* model_rules.c: a CUresult, or: it waits; the API does not say, or no room here */
#define WAITS	(-1)
#define UNSAID	(-2)
int model_expect(struct model *model, const struct call *call);

/* What a bind is to bind. Return: how many pieces; 0 if there is no such memory */
struct piece {
	struct object *memory;
	unsigned int from, chunks;
};
int model_pieces(struct model *model, const struct call *call,
		 struct piece pieces[MOST_CHUNKS]);

/*
 * model_effects.c: take what a call has done as the model expected it. Return: NULL,
 * or in what its outputs differ
 */
const char *model_settle(struct model *model, const struct call *call,
			 const struct answer *answer);

/* The device that memory is bound for; -1 if it is for the caller to say */
int model_bind_device(const struct call *call, const struct object *memory);

/* model.c */
/* What the processor gets at @address: a signal, or 0 and the word */
int model_touch(struct model *model, unsigned int worker, uint64_t address, bool store,
		uint32_t **word);
/* Objects end with their last user, bindings with their team or memory. */
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
/* What a store to all replicas reaches; the first is what a load reads. */
unsigned int model_words(struct model *model, const struct mapping *mapping,
			 uint64_t address, uint32_t *words[DEVICES]);
bool model_complete(const struct object *object);
bool model_member(const struct object *team, int device);

/* model_choice.c */
uint32_t choice_random(uint64_t *state, uint32_t below);
/* A call that succeeds or one that fails; or one that waits, if it finds any. */
void choose_call(struct model *model, uint64_t *random, bool valid, struct call *call);
/* Return: false if there is nothing left to clean up */
bool choose_clean_up(struct model *model, uint64_t *random, struct call *call);
const char *call_in_words(const struct call *call);
const char *result_in_words(int result);

/* model_worker.c: makes calls until the link ends */
void work(unsigned int worker, int link);

#endif /* MEMCAST_MODEL_H */
