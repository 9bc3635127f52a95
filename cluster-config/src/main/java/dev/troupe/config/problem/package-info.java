/**
 * The problems of a configuration: a problem with its place, the exception that carries all of them, and suggestions for
 * misspelt words.
 */
package dev.troupe.config.problem;
