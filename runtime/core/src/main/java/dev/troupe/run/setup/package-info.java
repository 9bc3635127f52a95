/**
 * The setups of a run's actors: settings, files, limits, reports and neighbours, each made once before an actor starts. No
 * actor in it.
 */
package dev.troupe.run.setup;
