/** Tests of {@link dev.troupe.run.cluster.tls}. */
package dev.troupe.run.cluster.tls;
