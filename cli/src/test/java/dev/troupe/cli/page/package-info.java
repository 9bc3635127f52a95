/** Tests of {@code dev.troupe.look.page}. */
package dev.troupe.cli.page;
