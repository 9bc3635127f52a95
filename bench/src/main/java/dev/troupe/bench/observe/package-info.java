/**
 * The cost of a run's records, measured by leaving them out alternately within one run: an agent of the JVM puts a question
 * in front of the methods that record, so that nothing outside this package knows of it.
 */
package dev.troupe.bench.observe;
