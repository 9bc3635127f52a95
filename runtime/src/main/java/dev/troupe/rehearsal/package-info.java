/**
 * What a rank has around it while it rehearses: other ranks that are not there, and yet answer at once. Nothing here knows
 * actors, a run's directory, or another process.
 */
package dev.troupe.rehearsal;
