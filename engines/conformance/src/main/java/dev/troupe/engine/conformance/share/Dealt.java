package dev.troupe.engine.conformance.share;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The annotation of tests, or of cases of a parameterized test, of which each build runs one share. The number of the commit
 * selects it, so that consecutive commits run every test. It annotates a class or a method, which has priority.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(Deal.class)
public @interface Dealt {
    /** The number of shares. */
    int value();
}
