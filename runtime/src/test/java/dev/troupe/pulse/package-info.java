/** What a rank that moves is seen by. */
package dev.troupe.pulse;
