// Compiled with -mavx2 -mfma. Templates of the same name in two sources are one function after linking, so
// what is compiled here must have names of its own: another processor would meet instructions that it does
// not have. tests/searchers/model/dense_symbols.py reads the object's symbols.
#if defined(__x86_64__)
#define Eigen EigenAvx2
#define HPSEARCH_DENSE dense_avx2
#include "model/numeric/dense_everywhere.cpp"  // NOLINT(bugprone-suspicious-include)
#endif
