/** The cost of collectives: the groups of Troupe, in one JVM and between JVMs, compared with Gloo's and a plain copy. */
package dev.troupe.bench.collective;
