/**
 * The fast engine of a machine with no GPU: oneDNN or OpenBLAS for matrix products, the JDK's Vector API for all between
 * them, in float32, with activations and products of bfloat16 on request.
 *
 * <p>Every kernel cuts its work into pieces that follow from the shapes alone, each piece writes what no other does, and
 * every sum has an order of its own. So results depend neither on timing nor on the number of threads.
 */
package dev.troupe.engine.cpu;
