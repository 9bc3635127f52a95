/**
 * The schedules, a file each, and their list. To add one: a record that implements
 * {@link dev.troupe.schedule.Schedule}, with its drawing and its source, entered in
 * {@link dev.troupe.schedule.family.Schedules}.
 */
package dev.troupe.schedule.family;
