/** Tests of how a stage is shared out, and a group for tests. */
package dev.troupe.parallel;
