/* A search inside a C program: cc search.c -lhpsearch -lm. The library decides, this program trains. */
#include <hpsearch/search.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number behind "name": in a JSON text; a program with more to read uses its JSON library. */
static double number(const char *text, const char *name) {
  char key[64];
  snprintf(key, sizeof key, "\"%s\":", name);
  const char *found = strstr(text, key);
  return found == NULL ? NAN : strtod(found + strlen(key), NULL);
}

int main(void) {
  hpsearch_search *search = hpsearch_open(
      "{\"hyperparameters\": {\"learning_rate\": {\"type\": \"log\", \"minval\": -4, \"maxval\": 0}},"
      " \"searcher\": {\"name\": \"adaptive_asha\", \"metric\": \"loss\", \"max_length\": 64, \"max_trials\": 100},"
      " \"reproducibility\": {\"experiment_seed\": 1}}", 1);
  if (hpsearch_error(search) != NULL) {
    fprintf(stderr, "%s\n", hpsearch_error(search));
    return 2;
  }
  const char *text;
  while ((text = hpsearch_ask(search)) != NULL && strcmp(text, "null") != 0) {
    const uint64_t trial = (uint64_t)number(text, "trial");
    const double rate = number(text, "learning_rate");
    do {
      const uint64_t length = (uint64_t)number(text, "length");
      const double loss = fabs(log10(rate) + 2) + 1 / (double)length; /* Stands for a training. */
      text = hpsearch_report(search, trial, length, loss);
    } while (strstr(text, "\"continue\"") != NULL);
  }
  printf("best: %s\n", hpsearch_best(search));
  hpsearch_close(search);
  return 0;
}
