/**
 * The setups of a run's actors: settings, files, limits, reports, neighbours and position, each made once before an actor
 * starts. It has no actor.
 */
package dev.troupe.run.setup;
