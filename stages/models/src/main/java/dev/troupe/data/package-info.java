/**
 * The data that a model is trained on: texts and files of tokens, the tokens of a text in a cache, and the split into
 * training and validation data.
 */
package dev.troupe.data;
