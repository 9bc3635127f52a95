/** The cost of a run's records: turns, intervals, and the question in front of a method. */
package dev.troupe.bench.observe;
