/** Tests of {@link dev.troupe.run.news}. */
package dev.troupe.run.news;
