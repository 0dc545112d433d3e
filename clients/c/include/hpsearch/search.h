/*
 * hpsearch in any program, through C: ask for work, report what came of it, read the best. The same engine, searchers and
 * decisions as behind the daemon, with this program as the only worker. Link with -lhpsearch.
 *
 *     hpsearch_search *search = hpsearch_open("{\"hyperparameters\": {…}, \"searcher\": {…}}", 4);
 *     for (const char *work; (work = hpsearch_ask(search)) != NULL && strcmp(work, "null") != 0;) …
 *
 * Texts are JSON in UTF-8; what a function returns belongs to the search and stays until the next call on it.
 * Errors:  a function that failed returns NULL, and hpsearch_error() has the reason; nothing has changed then. No
 *          exception leaves a function. A search that could not be opened exists too, with its error, and all else fails.
 * Threads: one at a time for each search; different searches do not share anything.
 * Cost:    O(log trials) for each call but state, explain, save and load, which are O(trials).
 * ABI:     symbols have the version HPSEARCH_0; functions are only added to it.
 */
#ifndef HPSEARCH_SEARCH_H
#define HPSEARCH_SEARCH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hpsearch_search hpsearch_search;

/* A new search. `config`: an experiment as the experiment file describes it (docs/experiment-file.md), in JSON; name and
 * entrypoint may be missing. `slots`: how many pieces of work can be out at once, at least 1. NULL: no memory. */
hpsearch_search *hpsearch_open(const char *config, uint64_t slots);

/* The search that hpsearch_save() wrote, at the same point. Work that was out then is given again by hpsearch_ask().
 * NULL: no memory. */
hpsearch_search *hpsearch_load(const char *saved);

/* Ends the use of a search; NULL is allowed. */
void hpsearch_close(hpsearch_search *search);

/* Why the last call failed, or NULL if it did not: {"error": {"code", "message", "problems"?: [{"path", "what",
 * "allowed"}]}}. */
const char *hpsearch_error(hpsearch_search *search);

/* The next piece of work: {"trial", "hparams", "from", "length", "seed"}: train the trial until it has `length` units in
 * all; it has `from` already. "null" while all slots are out, and when the search is over (hpsearch_state). */
const char *hpsearch_ask(hpsearch_search *search);

/* A trial measured `metric` (NaN: it diverged) after `step` units in all: {"directive": "continue" | "pause" | "stop",
 * "length"}. continue: train on until `length`; the others end this piece of work. */
const char *hpsearch_report(hpsearch_search *search, uint64_t trial, uint64_t step, double metric);

/* A piece of work ends without its metric. `state`: "failed" (it is given again while max_restarts of the configuration are
 * left), "invalid_hyperparameters" (another configuration is drawn for it), "canceled" or "stopped" (no more of it is
 * wanted). `why`: for people, may be NULL. Returns "{}". */
const char *hpsearch_tell(hpsearch_search *search, uint64_t trial, const char *state, const char *why);

/* The best trial so far: {"trial", "hparams", "metric", "step"}, or "null". */
const char *hpsearch_best(hpsearch_search *search);

/* The whole search in figures: {"state", "finished", "progress", "trials", ...} as GET experiments/{e} lists it. */
const char *hpsearch_state(hpsearch_search *search);

/* Why a trial is where it is, in words and figures: as GET experiments/{e}/trials/{t}/explain, without the history. */
const char *hpsearch_explain(hpsearch_search *search, uint64_t trial);

/* What the search will cost: trials, brackets, lengths; as `hpsearch preview -o json`. */
const char *hpsearch_preview(hpsearch_search *search);

/* The search as text, one event on each line, for hpsearch_load(). */
const char *hpsearch_save(hpsearch_search *search);

#ifdef __cplusplus
}
#endif

#endif
