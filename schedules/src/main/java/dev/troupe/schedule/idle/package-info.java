/**
 * Idle time: the times of a measured step, and for each time a rank was idle the cause, the rank and the action at its root.
 */
package dev.troupe.schedule.idle;
