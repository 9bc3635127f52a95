/** Tests of {@link dev.troupe.transport.driver}. */
package dev.troupe.transport.driver;
