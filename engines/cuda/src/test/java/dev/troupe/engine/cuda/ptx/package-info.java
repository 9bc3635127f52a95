/** An interpreter of the PTX that the engine ships, in place of a GPU in tests. */
package dev.troupe.engine.cuda.ptx;
