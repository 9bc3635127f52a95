/**
 * What the actions of a row mean to a stage on an engine. Nothing here knows actors, the transport's
 * threads, or another process.
 */
package dev.troupe.step;
