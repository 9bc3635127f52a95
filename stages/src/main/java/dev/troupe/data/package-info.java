/**
 * What a model is trained on: tokenizers, token sequences and the batches drawn from them. It imports the JDK and
 * jtokkit and nothing of Troupe.
 */
package dev.troupe.data;
