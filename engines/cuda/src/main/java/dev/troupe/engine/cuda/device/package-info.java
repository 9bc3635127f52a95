/**
 * A GPU as the engine sees it: {@link dev.troupe.engine.cuda.device.Device} has streams, and a stream memory, copies and
 * launches. A driver or an interpreter implements it; the engine knows no difference.
 */
package dev.troupe.engine.cuda.device;
