/**
 * What a run says of itself over HTTP, from the files in its directory, and the page for a browser that shows it.
 *
 * <p>Imports the JDK, {@code dev.troupe.compare}, {@code dev.troupe.output}, {@code dev.troupe.plan},
 * {@code dev.troupe.prepare}, {@code dev.troupe.schedule}, {@code dev.troupe.schedule.builder},
 * {@code dev.troupe.schedule.family}, {@code dev.troupe.schedule.idle}, {@code dev.troupe.schedule.lowering},
 * {@code dev.troupe.schedule.simulator} and {@code com.fasterxml.jackson}.
 */
package dev.troupe.page;
