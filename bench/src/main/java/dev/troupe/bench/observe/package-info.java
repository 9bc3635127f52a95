/**
 * The cost of what a run records, measured by leaving it out by turns within one run: an agent of the JVM puts a question
 * in front of the methods that record, so that nothing outside this package knows of it.
 */
package dev.troupe.bench.observe;
