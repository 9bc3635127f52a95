/** Tests of {@link dev.troupe.cli.stop}. */
package dev.troupe.cli.stop;
