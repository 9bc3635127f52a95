// All kernels of the engine, as one module.
#include "elementwise.cuh"
#include "digest.cuh"
#include "rows.cuh"
#include "tokens.cuh"
#include "attention_cores_backward.cuh"
#include "products.cuh"
