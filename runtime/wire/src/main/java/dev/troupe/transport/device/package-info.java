/**
 * Rings in the memory of devices, for payloads between two processes of one machine with engines on devices that reach each
 * other: the rings of a stream's reader and writer, and the note through which the writer opens a ring.
 */
package dev.troupe.transport.device;
