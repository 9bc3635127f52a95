/**
 * What keeps strangers out of a run: its key and sealed control messages.
 */
package dev.troupe.cluster.guard;
