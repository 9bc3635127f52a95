/** The cost of what a run records: turns, intervals, and the question in front of a method. */
package dev.troupe.bench.observe;
