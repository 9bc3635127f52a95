/** Tests of what the page reads. */
package dev.troupe.page;
