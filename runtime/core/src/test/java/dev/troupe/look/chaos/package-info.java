/** Tests of the figures of a disturbed run. */
package dev.troupe.look.chaos;
