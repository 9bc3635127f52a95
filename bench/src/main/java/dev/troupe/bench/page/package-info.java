/**
 * The speed of a run's page in a browser.
 *
 * <p>Imports the JDK, {@code dev.troupe.bench}, {@code dev.troupe.page}, {@code org.openqa.selenium} and {@code picocli}.
 */
package dev.troupe.bench.page;
