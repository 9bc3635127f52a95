/**
 * The parts of a {@code tokenizer.json}, as Hugging Face's tokenizers have them: normalizer, added tokens, pre-tokenizer,
 * model, post-processor and decoder.
 *
 * <p>Imports the JDK and {@code dev.troupe.tokenizer.file}.
 */
package dev.troupe.tokenizer.huggingface;
