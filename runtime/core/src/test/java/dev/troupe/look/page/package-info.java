/** Tests of what the page reads. */
package dev.troupe.look.page;
