/** Tests of {@link dev.troupe.cluster.tls}. */
package dev.troupe.cluster.tls;
