/** A prepared run from its start to its end: the warm-up of its kernels, its transport, and its actor system. */
package dev.troupe.run;
