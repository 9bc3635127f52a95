/**
 * Idle time: the times of a measured step, and for each idle time of a rank the cause, the rank and the action at its root.
 */
package dev.troupe.rank.idle;
