/**
 * Runs over several JVMs: Pekko Cluster for the control plane; for tensors one Aeron media driver a machine, and TCP
 * between machines. The actors are those of {@link dev.troupe.actor}; ranks do not know the nodes of the others.
 *
 * <p>Imports the JDK, {@code dev.troupe.actor}, {@code dev.troupe.batch}, {@code dev.troupe.cluster.guard},
 * {@code dev.troupe.cluster.status}, {@code dev.troupe.cluster.tls}, {@code dev.troupe.config},
 * {@code dev.troupe.config.cluster},
 * {@code dev.troupe.config.fault}, {@code dev.troupe.config.spec}, {@code dev.troupe.fault}, {@code dev.troupe.group},
 * {@code dev.troupe.liveness}, {@code dev.troupe.observe}, {@code dev.troupe.page}, {@code dev.troupe.plan},
 * {@code dev.troupe.port}, {@code dev.troupe.prepare}, {@code dev.troupe.protocol},
 * {@code dev.troupe.protocol.checkpoint}, {@code dev.troupe.protocol.membership}, {@code dev.troupe.protocol.node},
 * {@code dev.troupe.protocol.replica}, {@code dev.troupe.protocol.run}, {@code dev.troupe.rank}, {@code dev.troupe.run},
 * {@code dev.troupe.snapshot}, {@code dev.troupe.snapshot.aeron}, {@code dev.troupe.snapshot.copy},
 * {@code dev.troupe.stage}, {@code dev.troupe.transport}, {@code dev.troupe.transport.aeron},
 * {@code dev.troupe.transport.driver}, {@code dev.troupe.transport.tcp}, {@code com.fasterxml.jackson},
 * {@code com.typesafe.config}, {@code org.apache.pekko}, {@code org.slf4j} and {@code scala}.
 */
package dev.troupe.cluster;
