/**
 * A step of a run, done again.
 */
package dev.troupe.replay;
