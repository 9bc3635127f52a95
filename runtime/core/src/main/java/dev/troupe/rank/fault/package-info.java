/**
 * Injected faults. The faults of {@code dev.troupe.config.fault} strike at the points of a rank's steps and in the results
 * of its kernels ({@link dev.troupe.rank.fault.RankFaults}), and on messages ({@link
 * dev.troupe.rank.fault.FaultyTransport}). A run without faults has neither: its step hook has no effect, and transport and
 * engine are not wrapped.
 */
package dev.troupe.rank.fault;
