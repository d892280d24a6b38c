/* SPDX-License-Identifier: MIT */
/* Captures and their branches, for the files of this folder. graphs_lock protects all of it. */
#ifndef MEMCAST_GRAPH_CAPTURED_H
#define MEMCAST_GRAPH_CAPTURED_H

#include "graph/graph.h"

struct capture {
	struct capture *next;
	uint64_t id;			/* unique among all captures */
	CUstreamCaptureMode mode;
	uint64_t thread;		/* the thread that began it */
	bool failed;
	struct graph *graph;
	bool owns_graph;		/* the graph was made for this capture */
	struct branch *branches, *origin;
};

struct branch {
	struct branch *next;
	struct capture *capture;
	struct stream *stream;		/* with a reference; NULL: it was destroyed */
	/* dependencies of the stream's next node; cuStreamGetCaptureInfo() outputs them */
	CUgraphNode *nodes;
	CUgraphEdgeData *edges;
	size_t count, room;
};

/* capture.c */
bool capture_is_own(const struct capture *capture);
struct capture *capture_find(uint64_t id);
bool capture_has_blocking(CUcontext context, bool fail);
CUresult capture_new(struct capture **capture, CUstreamCaptureMode mode);
void capture_drop(struct capture *capture);
CUresult branch_add(struct capture *capture, struct stream *stream);
CUresult branch_reserve(struct branch *branch, size_t count);

/* Each fails a call that is forbidden during a capture; see capture.h. */
CUresult captures_check_unsafe(void);
CUresult captures_check_legacy(const struct stream_set *set);
CUresult captures_check_context(CUcontext context);
void captures_end(struct stream *stream);

/* captured.c */
CUresult branch_join(struct branch *branch, const CUgraphNode *nodes,
		     const CUgraphEdgeData *edges, size_t count);
size_t branch_living(struct branch *branch);

#endif /* MEMCAST_GRAPH_CAPTURED_H */
