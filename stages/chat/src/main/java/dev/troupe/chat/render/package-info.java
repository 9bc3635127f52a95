/** Jinja with the settings of transformers: a parsed template makes a text of the variables of a chat. */
package dev.troupe.chat.render;
