/**
 * Rings in the memory of devices, for payloads between processes of one machine with engines on one device: the rings of a
 * stream's reader and of its writer, and the note through which the writer finds a ring. Headers, credits and epochs are the
 * transport's own.
 */
package dev.troupe.transport.device;
