/** Tests of what is read off a disturbed run. */
package dev.troupe.chaos;
