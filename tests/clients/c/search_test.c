/* The header and the library from C: a search from its first question to its end. Exit status 0: all as it should be. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hpsearch/search.h"

static void expect(int holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "search_test: not so: %s\n", what);
    exit(1);
  }
}

/* The number behind "name": in a JSON text of one level. */
static double number(const char *text, const char *name) {
  char key[64];
  snprintf(key, sizeof key, "\"%s\":", name);
  const char *found = strstr(text, key);
  expect(found != NULL, name);
  return strtod(found + strlen(key), NULL);
}

static int is(const char *text, const char *name, const char *value) {
  char pair[96];
  snprintf(pair, sizeof pair, "\"%s\":\"%s\"", name, value);
  return strstr(text, pair) != NULL;
}

int main(void) {
  hpsearch_search *search = hpsearch_open(
      "{\"hyperparameters\": {\"x\": {\"type\": \"double\", \"minval\": -4, \"maxval\": 4}},"
      " \"searcher\": {\"name\": \"adaptive_asha\", \"metric\": \"loss\", \"max_length\": 27, \"max_trials\": 30},"
      " \"reproducibility\": {\"experiment_seed\": 1}}", 2);
  expect(search != NULL && hpsearch_error(search) == NULL, "the search is open");
  expect(number(hpsearch_preview(search), "trials") == 30 || strstr(hpsearch_preview(search), "30") != NULL, "30 trials");
  expect(strcmp(hpsearch_best(search), "null") == 0, "there is no best trial yet");

  int asked = 0;
  double least = INFINITY;
  const char *text;
  while ((text = hpsearch_ask(search)) != NULL && strcmp(text, "null") != 0) {
    ++asked;
    const uint64_t trial = (uint64_t)number(text, "trial");
    const double x = number(text, "x");
    uint64_t length = (uint64_t)number(text, "length");
    for (;;) {
      const double loss = (x - 1) * (x - 1) + 1 / (double)length;
      least = loss < least ? loss : least;
      const char *decision = hpsearch_report(search, trial, length, loss);
      expect(decision != NULL, "a report of work that is out is taken");
      if (!is(decision, "directive", "continue")) {
        break;
      }
      length = (uint64_t)number(decision, "length");
    }
  }
  expect(asked >= 30, "each trial was out at least once");
  expect(strstr(hpsearch_state(search), "\"finished\":true") != NULL, "the search is over");
  expect(number(hpsearch_best(search), "metric") == least, "the best is the best that was reported");
  expect(strstr(hpsearch_explain(search, 0), "\"now\":") != NULL, "the first trial is explained");

  expect(hpsearch_report(search, 0, 1, 0.5) == NULL, "what is not out cannot be reported");
  expect(is(hpsearch_error(search), "code", "not_found"), "and the error has its reason");
  expect(hpsearch_tell(search, 0, "lost", NULL) == NULL, "there is no such state");
  expect(is(hpsearch_error(search), "code", "bad_request"), "and the error has its reason");

  char *saved = strdup(hpsearch_save(search));
  char *best = strdup(hpsearch_best(search));
  hpsearch_close(search);
  search = hpsearch_load(saved);
  expect(strcmp(hpsearch_best(search), best) == 0, "a loaded search has the same best trial");
  expect(strcmp(hpsearch_ask(search), "null") == 0, "and is over too");
  hpsearch_close(search);
  free(saved);
  free(best);

  search = hpsearch_open("{\"searcher\": {\"name\": \"rndom\"}}", 1);
  expect(search != NULL && strstr(hpsearch_error(search), "searcher.name") != NULL, "a wrong configuration has its error");
  expect(hpsearch_ask(search) == NULL && strstr(hpsearch_error(search), "searcher.name") != NULL, "which stays");
  hpsearch_close(search);
  search = hpsearch_open("{", 1);
  expect(strstr(hpsearch_error(search), "JSON") != NULL, "what is no JSON has its error");
  hpsearch_close(search);
  search = hpsearch_open(NULL, 1);
  expect(hpsearch_error(search) != NULL, "NULL has its error");
  hpsearch_close(search);
  hpsearch_close(NULL);
  expect(hpsearch_ask(NULL) == NULL && hpsearch_error(NULL) != NULL, "no search, no answer");
  return 0;
}
