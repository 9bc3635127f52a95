/** The values of a chat template: Python's and Jinja's own. */
package dev.troupe.chat.value;
