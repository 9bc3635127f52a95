/**
 * A prepared run from its start to its end: the warm-up of its kernels, its transport, and its actor system.
 *
 * <p>Imports the JDK, {@code dev.troupe.actor}, {@code dev.troupe.checkpoint}, {@code dev.troupe.config.spec},
 * {@code dev.troupe.engine.provider}, {@code dev.troupe.fault}, {@code dev.troupe.group}, {@code dev.troupe.observe},
 * {@code dev.troupe.plan}, {@code dev.troupe.prepare}, {@code dev.troupe.protocol},
 * {@code dev.troupe.protocol.membership}, {@code dev.troupe.protocol.node}, {@code dev.troupe.protocol.replica},
 * {@code dev.troupe.rank}, {@code dev.troupe.schedule.idle}, {@code dev.troupe.snapshot}, {@code dev.troupe.transport},
 * {@code dev.troupe.transport.aeron}, {@code dev.troupe.warmup}, {@code com.typesafe.config}, {@code org.apache.pekko}
 * and {@code org.slf4j}.
 */
package dev.troupe.run;
