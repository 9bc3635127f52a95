/** Tests of what is checked and chosen before a run starts. */
package dev.troupe.run;
