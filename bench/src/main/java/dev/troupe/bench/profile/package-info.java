/** An observer that measures an engine, kernel by kernel, and the processor time of the threads of a run. */
package dev.troupe.bench.profile;
