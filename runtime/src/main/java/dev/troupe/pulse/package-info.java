/**
 * Whether a rank moves, and what that is seen by: kernels that end, bytes that move, collectives that it waits in. May import
 * engines, groups and weights; knows no actors.
 */
package dev.troupe.pulse;
