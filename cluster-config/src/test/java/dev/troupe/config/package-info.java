/** Tests of the values that are read, and of refusals with their sentences. */
package dev.troupe.config;
