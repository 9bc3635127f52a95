/** An interpreter of the PTX that the engine ships, which stands for a GPU in the tests. */
package dev.troupe.engine.cuda.ptx;
