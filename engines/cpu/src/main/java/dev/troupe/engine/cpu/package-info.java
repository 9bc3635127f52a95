/**
 * The fast engine of a machine without a GPU: oneDNN or OpenBLAS for matrix products, the JDK's Vector API for everything
 * else, in float32, with activations and products of bfloat16 on request.
 *
 * <p>Every kernel cuts its work into pieces by the shapes alone, no two pieces write the same elements, and every sum has a
 * fixed order. So results depend neither on timing nor on the number of threads.
 */
package dev.troupe.engine.cpu;
