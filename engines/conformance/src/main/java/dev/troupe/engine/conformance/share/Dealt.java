package dev.troupe.engine.conformance.share;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Tests, or cases of a parameterized test, of which each build runs one share. The number of the commit deals it, so that as
 * many commits as there are shares run every test once. Annotates a class or a method; that of the method counts.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(Deal.class)
public @interface Dealt {
    /** The number of shares. */
    int value();
}
