/**
 * Jinja as transformers sets it up: a template that was read makes a text of the variables of a chat.
 */
package dev.troupe.chat.render;
