/** The protection of a run from strangers: its key and sealed control messages. */
package dev.troupe.run.cluster.guard;
