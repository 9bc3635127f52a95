/** Tests of {@link dev.troupe.cli.progress}. */
package dev.troupe.cli.progress;
