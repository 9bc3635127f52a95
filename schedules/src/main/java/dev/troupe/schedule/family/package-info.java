/**
 * The schedules, a file each, and their list. To add one: a record that implements
 * {@link dev.troupe.schedule.builder.Schedule}, with its drawing and its source, entered in
 * {@link dev.troupe.schedule.family.Schedules}.
 *
 * <p>Imports the JDK, {@code dev.troupe.schedule}, {@code dev.troupe.schedule.builder} and
 * {@code dev.troupe.schedule.lowering}.
 */
package dev.troupe.schedule.family;
