/**
 * The plan: what every rank does in one step, in order, as plain data. Actions and their text, the placement of stages
 * on ranks, the plan with its CSV and terminal forms, and the pass that puts messages into it.
 *
 * <p>Imports the JDK only; knows neither the schedules that make plans nor the proof that one is sound.
 */
package dev.troupe.schedule;
