/** Commands that ask which bit went wrong first. */
package dev.troupe.cli.bits;
