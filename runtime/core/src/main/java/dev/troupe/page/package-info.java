/**
 * A run over HTTP, from the files in its directory: its progress and steps, the cause of a slow step, a comparison with
 * another run, and the simulation of its plan with a change; and the page for a browser that shows them.
 *
 * <p>Imports the JDK, {@code dev.troupe.compare}, {@code dev.troupe.output}, {@code dev.troupe.plan},
 * {@code dev.troupe.prepare}, {@code dev.troupe.schedule}, {@code dev.troupe.schedule.builder},
 * {@code dev.troupe.schedule.family}, {@code dev.troupe.schedule.idle}, {@code dev.troupe.schedule.lowering},
 * {@code dev.troupe.schedule.simulator}, {@code dev.troupe.tokenizer.file} and {@code com.fasterxml.jackson}.
 */
package dev.troupe.page;
