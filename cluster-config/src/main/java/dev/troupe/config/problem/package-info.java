/**
 * The problems of a request: a problem with its place, the exception that carries all of them, and the words with which a
 * misspelt word is compared.
 */
package dev.troupe.config.problem;
