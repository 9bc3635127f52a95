/**
 * The tensor transport over Aeron: an embedded media driver, one agent thread, one stream from each node to each node.
 * Frames, credits and reassembly are plain classes without Aeron, so that tests can put any bytes into them. May
 * import the JDK, {@code dev.troupe.engine}, {@code dev.troupe.transport}, its generated frame codecs, Aeron, Agrona
 * and SLF4J.
 */
package dev.troupe.transport.aeron;
