package dev.troupe.run.http;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.function.Supplier;

/** The paths of a server, each with its handler. Immutable. Thread rule: any thread. */
public final class Routes {
    @FunctionalInterface
    public interface Resource {
        /** Answers a request, on any thread. */
        Answer answer(Question question);
    }

    /**
     * A request.
     *
     * @param rest the path after the resource's path; may be empty
     */
    public record Question(String rest, Map<String, String> parameters) {
        public Question {
            parameters = Map.copyOf(parameters);
        }

        /** Returns a parameter, or the other text if it is missing. */
        public String text(String name, String otherwise) {
            return parameters.getOrDefault(name, otherwise);
        }

        /** Returns a parameter that is a whole number. */
        public OptionalLong number(String name) {
            return parsed(parameters.get(name));
        }

        /** Returns the whole number after the resource's path. */
        public OptionalLong restAsNumber() {
            return parsed(rest);
        }

        private static OptionalLong parsed(String text) {
            try {
                return text == null ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(text));
            } catch (NumberFormatException _) {
                return OptionalLong.empty();
            }
        }

        /** Returns a parameter that is a finite number. */
        public OptionalDouble decimal(String name) {
            try {
                String text = parameters.get(name);
                double number = text == null ? Double.NaN : Double.parseDouble(text);
                return Double.isFinite(number) ? OptionalDouble.of(number) : OptionalDouble.empty();
            } catch (NumberFormatException _) {
                return OptionalDouble.empty();
            }
        }
    }

    private final Map<String, Resource> resources;
    private final Map<String, Supplier<Supplier<String>>> events;

    private Routes(Map<String, Resource> resources, Map<String, Supplier<Supplier<String>>> events) {
        this.resources = resources;
        this.events = events;
    }

    public static Routes none() {
        return new Routes(Map.of(), Map.of());
    }

    /**
     * Returns these routes and one more.
     *
     * @param path the whole path; a path that ends with a slash matches everything below it
     */
    public Routes with(String path, Resource resource) {
        Map<String, Resource> more = new LinkedHashMap<>(resources);
        more.put(path, resource);
        return new Routes(more, events);
    }

    /**
     * Returns these routes and a path of server-sent events.
     *
     * @param listener makes the tail of a new listener; each call of a tail returns the text of the events since the call
     *        before, which is empty if there are none
     */
    public Routes withEvents(String path, Supplier<Supplier<String>> listener) {
        return new Routes(resources, Map.of(path, listener));
    }

    /** Returns a tail of the events at a path; empty if it has none. */
    Optional<Supplier<String>> events(String path) {
        return Optional.ofNullable(events.get(path)).map(Supplier::get);
    }

    /**
     * Returns the answer to a GET.
     *
     * @param path with its slash
     * @param query the encoded query; may be null
     */
    public Answer answer(String path, String query) {
        Resource whole = resources.get(path);
        if (whole != null && !path.endsWith("/")) {
            return whole.answer(new Question("", parameters(query)));
        }
        int slash = path.lastIndexOf('/') + 1;
        Resource below = resources.get(path.substring(0, slash));
        return below == null
                ? Answer.absent("there is nothing at " + path + "; there is " + String.join(", ", resources.keySet()))
                : below.answer(new Question(path.substring(slash), parameters(query)));
    }

    private static Map<String, String> parameters(String query) {
        Map<String, String> parameters = new LinkedHashMap<>();
        if (query != null) {
            for (String part : query.split("&")) {
                int equals = part.indexOf('=');
                if (equals > 0) {
                    parameters.put(decoded(part.substring(0, equals)), decoded(part.substring(equals + 1)));
                }
            }
        }
        return parameters;
    }

    private static String decoded(String text) {
        try {
            return URLDecoder.decode(text, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException _) { // a percent sign that encodes nothing
            return text;
        }
    }
}
