/** Tests of {@link dev.troupe.run.cluster.liveness}. */
package dev.troupe.run.cluster.liveness;
