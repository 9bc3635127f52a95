/**
 * Chat templates of Hugging Face models: messages into the text that a model was trained on.
 */
package dev.troupe.chat;
