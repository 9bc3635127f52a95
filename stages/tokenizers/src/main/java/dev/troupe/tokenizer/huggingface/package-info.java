/**
 * The parts of a {@code tokenizer.json}, as Hugging Face's tokenizers have them: normalizer, added tokens, pre-tokenizer,
 * model, post-processor and decoder.
 */
package dev.troupe.tokenizer.huggingface;
