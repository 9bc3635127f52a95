/** Tests of rings in the memory of devices. */
package dev.troupe.transport.device;
