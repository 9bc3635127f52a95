/** The filters and tests of Jinja, by their names. */
package dev.troupe.chat.filter;
