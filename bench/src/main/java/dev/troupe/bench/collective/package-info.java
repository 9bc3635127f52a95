/**
 * The cost of collectives: the groups of Troupe, in one JVM and between JVMs, beside Gloo's and a plain copy.
 */
package dev.troupe.bench.collective;
