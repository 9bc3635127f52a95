/**
 * The interface to a GPU: a {@link dev.troupe.engine.cuda.device.Device} has streams, and a stream has memory, copies and
 * launches. A driver or an interpreter implements it.
 */
package dev.troupe.engine.cuda.device;
