/**
 * What keeps strangers out of a run: its key and sealed control messages.
 *
 * <p>Imports the JDK, {@code dev.troupe.config.cluster}, {@code dev.troupe.plan}, {@code dev.troupe.port},
 * {@code dev.troupe.prepare}, {@code com.typesafe.config} and {@code org.apache.pekko}.
 */
package dev.troupe.cluster.guard;
