package dev.troupe.look.page;

import dev.troupe.run.http.Answer;
import dev.troupe.run.http.Routes;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** The files of the page itself, from the resources of this program. */
final class PageFiles {
    private PageFiles() {
    }

    static Routes with(Routes routes) {
        return routes.with("/", question -> question.rest().isEmpty()
                ? file("page.html", "text/html; charset=UTF-8")
                : Answer.absent("there is nothing at /" + question.rest() + "; the page is at /"))
                .with("/page.js", _ -> file("page.js", "text/javascript; charset=UTF-8"))
                .with("/drawing.js", _ -> file("drawing.js", "text/javascript; charset=UTF-8"))
                .with("/page.css", _ -> file("page.css", "text/css; charset=UTF-8"));
    }

    private static Answer file(String name, String type) {
        try (InputStream file = PageFiles.class.getResourceAsStream(name)) {
            return new Answer(200, type, file.readAllBytes());
        } catch (IOException unread) {
            throw new UncheckedIOException(unread);
        }
    }
}
