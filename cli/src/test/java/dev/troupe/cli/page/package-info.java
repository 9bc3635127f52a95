/** Tests of {@code dev.troupe.page}. */
package dev.troupe.cli.page;
