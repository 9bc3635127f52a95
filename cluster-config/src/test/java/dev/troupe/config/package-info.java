/** Tests of what is read, what is refused, and in which words. */
package dev.troupe.config;
