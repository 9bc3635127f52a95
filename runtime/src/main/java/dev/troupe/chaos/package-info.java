/**
 * A disturbed run beside the undisturbed one: which faults struck, what it took to go on, and whether anything in the end is
 * different. Reads what runs leave in their directories, so that it does not matter in how many processes they ran.
 */
package dev.troupe.chaos;
