/* SPDX-License-Identifier: MIT */
/*
 * Players: processes of several hosts in one game, which goes on while hosts are lost and
 * return. Each player checks calls' results and loaded values, and shares fabric handles.
 */
#ifndef MEMCAST_LOST_PLAYERS_H
#define MEMCAST_LOST_PLAYERS_H

#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <memcast/view.h>

#define FABRIC		CU_MEM_HANDLE_TYPE_FABRIC
#define MOST_PLAYERS	8
#define PLAYERS_EACH	2U	/* players per host: each has a device */

/* A fabric handle for the other players; valid while the number is even and stays the same */
struct gift {
	uint32_t number, tag;
	CUmemFabricHandle handle;
};

/* All processes of the game share this. */
struct game {
	uint32_t players, stop, acts, tags, visits, reductions, signals, bad;
	char said[160];			/* describes the first error */
	struct gift memory[MOST_PLAYERS], team;
	uint32_t joined[MOST_PLAYERS];	/* the number of the team that each player has joined */
};

struct player {
	struct game *game;
	unsigned int number, host, device, seed;
	bool lost;			/* a call has reported the loss of its host */
	CUstream stream;
	CUmemGenericAllocationHandle own, team;
	uint32_t tag, team_number;
	CUdeviceptr at, plain, window;	/* @at: its own memory; 0: not mapped */
	struct memcast_view view;
};

static inline unsigned int any(unsigned int *seed, unsigned int of)
{
	return (unsigned int)rand_r(seed) % of;
}

#define COUNT(player, what) \
	__atomic_add_fetch(&(player)->game->what, 1, __ATOMIC_SEQ_CST)

/* ---- a player's checks ---- */

static inline void bad(struct player *player, const char *what, long number)
{
	if (!__atomic_exchange_n(&player->game->bad, 1, __ATOMIC_SEQ_CST))
		snprintf(player->game->said, sizeof(player->game->said),
			 "player %u of host %u: %s (%ld)", player->number, player->host, what,
			 number);
}

/*
 * Checks a call's result. CUDA_ERROR_UNKNOWN: the player's host was lost, and all later calls
 * have to say so. CUDA_ERROR_NVLINK_UNCORRECTABLE: another host was lost, which ends the
 * player's device; its process ends. Any other result has to be @other or CUDA_SUCCESS.
 */
static inline bool good(struct player *player, const char *what, CUresult result, CUresult other)
{
	if (player->lost && result != CUDA_ERROR_UNKNOWN)
		bad(player, "it answers after the loss", result);
	if (result == CUDA_SUCCESS)
		return true;
	if (result == CUDA_ERROR_UNKNOWN)
		player->lost = true;
	else if (result == CUDA_ERROR_NVLINK_UNCORRECTABLE && player->game->players > PLAYERS_EACH)
		_exit(0);
	else if (result != other)
		bad(player, what, result);
	return false;
}

#define GOOD(call, other)	good(player, #call, call, other)
#define MUST(call)		GOOD(call, CUDA_SUCCESS)

static sigjmp_buf way_out;

static inline void on_fault(int number)
{
	siglongjmp(way_out, number);
}

/* Return: was the player's host lost? Makes a call, which would report that. */
static inline bool is_lost(struct player *player)
{
	size_t free, total;

	MUST(cuMemGetInfo(&free, &total));
	return player->lost;
}

/* Loads a tag: from the player's @own memory, which may fail only after its loss; or another's. */
static inline void look(struct player *player, CUdeviceptr at, uint32_t tag, bool own)
{
	int number = sigsetjmp(way_out, 1);
	uint32_t seen;

	if (!number) {
		seen = *(volatile uint32_t *)at;
		if (seen != tag)
			bad(player, "somebody else's memory is there", seen);
		if (!own)
			COUNT(player, visits);
		return;
	}
	COUNT(player, signals);
	if (number != SIGBUS || (own && !is_lost(player)))
		bad(player, "a signal", number);
}

/* ---- fabric handles for other players ---- */

/* No player ends while the number is odd: there is no call in between that could fail. */
static inline void put_gift(struct player *player, struct gift *gift,
			    CUmemGenericAllocationHandle object, uint32_t tag)
{
	uint32_t number = __atomic_load_n(&gift->number, __ATOMIC_SEQ_CST) & ~1U;
	CUmemFabricHandle handle;

	if (!MUST(cuMemExportToShareableHandle(&handle, object, FABRIC, 0)) ||
	    !__atomic_compare_exchange_n(&gift->number, &number, number + 1, false,
					 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return;
	gift->handle = handle;
	gift->tag = tag;
	__atomic_store_n(&gift->number, number + 2, __ATOMIC_SEQ_CST);
}

/* Return: the gift's number; 0: there is no gift yet, or a player is changing it */
static inline uint32_t get_gift(struct gift *gift, struct gift *copy)
{
	uint32_t number = __atomic_load_n(&gift->number, __ATOMIC_SEQ_CST);

	if (!number || number % 2)
		return 0;
	*copy = *gift;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return __atomic_load_n(&gift->number, __ATOMIC_SEQ_CST) == number ? number : 0;
}

#endif /* MEMCAST_LOST_PLAYERS_H */
