package dev.troupe.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.plan.UsageException;
import java.io.IOException;
import java.net.URL;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class ActorSystemsTest {
    private final ClassLoader before = Thread.currentThread().getContextClassLoader();

    @AfterEach
    void restore() {
        Thread.currentThread().setContextClassLoader(before);
    }

    @Test
    void shouldReadTheDefaultsWithTheLibrarysOwnClassLoader() {
        Thread.currentThread().setContextClassLoader(ClassLoader.getPlatformClassLoader());
        assertEquals("cluster", ActorSystems.ofNode().getString("pekko.actor.provider"));
    }

    /** A jar that holds several libraries, without the transformers of its plug-in, keeps one file of each name. */
    @Test
    void shouldNameTheTransformersForAJarWithOneFileOfDefaults() throws IOException {
        List<URL> all = Collections.list(before.getResources("reference.conf"));
        assertTrue(all.size() > 4, all.toString());
        for (URL one : all) {
            Thread.currentThread().setContextClassLoader(new ClassLoader(before) {
                @Override
                public Enumeration<URL> getResources(String name) throws IOException {
                    return name.equals("reference.conf")
                            ? Collections.enumeration(List.of(one))
                            : super.getResources(name);
                }
            });
            String said = assertThrows(UsageException.class, ActorSystems::ofNode, one.toString()).getMessage();
            assertTrue(said.contains("AppendingTransformer") && said.contains("ServicesResourceTransformer"), said);
        }
    }
}
