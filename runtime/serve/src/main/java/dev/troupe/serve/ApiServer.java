package dev.troupe.serve;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.troupe.look.model.Generation;
import dev.troupe.look.model.GenerationQueue;
import dev.troupe.look.model.QueueFullException;
import dev.troupe.plan.UsageException;
import dev.troupe.run.http.PageServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An HTTP server with the paths of OpenAI: {@code /v1/chat/completions}, {@code /v1/completions} and {@code /v1/models},
 * next to {@code /health} and {@code /metrics}.
 *
 * <p>Thread rule: any thread.
 */
public final class ApiServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ApiServer.class);
    private static final String JSON = "application/json";
    private static final String MODELS = "/v1/models";
    private static final String CHATS = "/v1/chat/completions";
    private static final String COMPLETIONS = "/v1/completions";
    private static final String HEALTH = "/health";
    private static final String METRICS = "/metrics";
    private static final int OK = 200;
    private static final int MOST_BODY_BYTES = 4 << 20;
    private static final Duration LONGEST_WRITE = Duration.ofSeconds(30);

    /**
     * The place of a server and who may ask it.
     *
     * @param tls present for HTTPS
     * @param token what a request has to bring as {@code Authorization: Bearer TOKEN}; empty: nothing
     * @param model the name of the model in requests; its adapters have names of their own
     */
    public record Settings(InetSocketAddress address, Optional<SSLContext> tls, Optional<String> token, String model) {
    }

    private final Settings settings;
    private final Generation generation;
    private final GenerationQueue queue;
    private final int context;
    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final WriteWatch watch = new WriteWatch(LONGEST_WRITE);
    private final long created = Instant.now().getEpochSecond();

    private ApiServer(Settings settings, Generation generation, GenerationQueue queue, int context, HttpServer server) {
        this.settings = settings;
        this.generation = generation;
        this.queue = queue;
        this.context = context;
        this.server = server;
    }

    /**
     * Opens the address.
     *
     * @param queue closed by the caller, before this
     * @param context the most tokens of a prompt and its text together
     * @throws UsageException if the address is taken
     */
    public static ApiServer open(Settings settings, Generation generation, GenerationQueue queue, int context) {
        HttpServer server;
        try {
            server = PageServer.bound(settings.address(), settings.tls());
        } catch (IOException taken) {
            throw new UsageException("cannot serve on " + settings.address() + " (" + taken.getMessage()
                    + "); see that nothing else has the port, or choose another with --port", taken);
        }
        ApiServer api = new ApiServer(settings, generation, queue, context, server);
        server.setExecutor(api.threads);
        server.createContext("/", api::handle);
        server.start();
        return api;
    }

    public URI address() {
        String host = settings.address().getHostString();
        return URI.create(
                (settings.tls().isPresent() ? "https://" : "http://") + (host.contains(":") ? "[" + host + "]" : host)
                        + ":" + server.getAddress().getPort());
    }

    private void handle(HttpExchange exchange) {
        try (exchange) {
            try {
                requirePermission(exchange);
                answer(exchange);
            } catch (ApiException refused) {
                refuse(exchange, refused);
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt(); // the reader is too slow, or the server ends
            } catch (RuntimeException defect) {
                LOG.error("a request failed", defect);
                refuse(exchange, ApiException.ofServer(ApiException.FAILED, null,
                        "the request failed, which is a defect of the server: its log has the cause"));
            }
        } catch (IOException gone) {
            LOG.debug("a reader has disconnected", gone);
        }
    }

    private void refuse(HttpExchange exchange, ApiException refused) throws IOException {
        if (exchange.getResponseCode() < 0) {
            if (refused.status() == ApiException.TOO_MANY || refused.status() == ApiException.UNAVAILABLE) {
                exchange.getResponseHeaders().set("Retry-After", "1");
            }
            send(exchange, refused.status(), JSON, refused.body().toString());
        }
    }

    /**
     * A page of another site may send requests to this machine too: by a name that resolves to the loopback, or without a
     * preflight as a form. Neither has a token.
     */
    private void requirePermission(HttpExchange exchange) {
        if (settings.token().isPresent()) {
            String given = exchange.getRequestHeaders().getFirst("Authorization");
            byte[] expected = ("Bearer " + settings.token().get()).getBytes(StandardCharsets.UTF_8);
            if (!path(exchange).equals(HEALTH)
                    && (given == null || !MessageDigest.isEqual(expected, given.getBytes(StandardCharsets.UTF_8)))) {
                throw ApiException.refused(ApiException.UNAUTHORIZED, "invalid_api_key",
                        "the header Authorization must be Bearer and the token of this server");
            }
            return;
        }
        if (!PageServer.LOOPBACK.contains(PageServer.host(exchange))) {
            throw ApiException.refused(ApiException.FORBIDDEN, null,
                    "this server is for this machine alone: address it as " + address());
        }
        if (exchange.getRequestHeaders().getFirst("Origin") != null) {
            throw ApiException.refused(ApiException.FORBIDDEN, null,
                    "pages in a browser may not ask a server without a token: start it with --token-file");
        }
    }

    private static String path(HttpExchange exchange) {
        return exchange.getRequestURI().getPath();
    }

    private void answer(HttpExchange exchange) throws IOException, InterruptedException {
        String path = path(exchange);
        switch (path) {
            case CHATS, COMPLETIONS -> {
                requireMethod(exchange, "POST");
                complete(exchange, path.equals(CHATS));
            }
            case HEALTH -> {
                requireMethod(exchange, "GET");
                send(exchange, OK, JSON, JsonNodeFactory.instance.objectNode().put("status", "ok").toString());
            }
            case METRICS -> {
                requireMethod(exchange, "GET");
                send(exchange, OK, "text/plain; version=0.0.4; charset=utf-8", QueueText.of(queue.counts()));
            }
            case MODELS -> {
                requireMethod(exchange, "GET");
                ObjectNode list = JsonNodeFactory.instance.objectNode().put("object", "list");
                ArrayNode models = list.putArray("data").add(model(settings.model()));
                generation.adapters().forEach(adapter -> models.add(model(adapter)));
                send(exchange, OK, JSON, list.toString());
            }
            default -> {
                if (!path.startsWith(MODELS + "/")) {
                    throw ApiException.refused(ApiException.NOT_FOUND, null,
                            "there is nothing at " + path + "; there is "
                                    + String.join(", ", CHATS, COMPLETIONS, MODELS, HEALTH, METRICS));
                }
                requireMethod(exchange, "GET");
                String name = path.substring(MODELS.length() + 1);
                adapter(name);
                send(exchange, OK, JSON, model(name).toString());
            }
        }
    }

    /** An adapter has the name of its model as {@code parent}, as in vLLM. */
    private ObjectNode model(String name) {
        ObjectNode model = JsonNodeFactory.instance.objectNode().put("id", name).put("object", "model")
                .put("created", created).put("owned_by", "troupe").put("context_length", context);
        return name.equals(settings.model()) ? model : model.put("parent", settings.model());
    }

    private static void requireMethod(HttpExchange exchange, String method) {
        if (!exchange.getRequestMethod().equals(method)) {
            exchange.getResponseHeaders().set("Allow", method);
            throw ApiException.refused(ApiException.NOT_ALLOWED, null,
                    path(exchange) + " accepts only " + method + ", but the method is " + exchange.getRequestMethod());
        }
    }

    /**
     * Returns the adapter that a name means; empty for the model without one.
     *
     * @throws ApiException if there is none with this name
     */
    private Optional<String> adapter(String name) {
        if (name.equals(settings.model())) {
            return Optional.empty();
        }
        if (generation.adapters().contains(name)) {
            return Optional.of(name);
        }
        throw new ApiException(ApiException.NOT_FOUND, "invalid_request_error", "model", "model_not_found",
                "there is no model \"" + name + "\"; there is " + names());
    }

    private String names() {
        return Stream.concat(Stream.of(settings.model()), generation.adapters().stream())
                .map(name -> '"' + name + '"').collect(Collectors.joining(", "));
    }

    private void complete(HttpExchange exchange, boolean isChat) throws IOException, InterruptedException {
        Body body = Body.parse(read(exchange));
        String name = body.text("model");
        if (name == null) {
            throw ApiException.wrong("model", "model is missing; there is " + names());
        }
        Optional<String> adapter = adapter(name);
        CompletionRequest request = CompletionRequest.of(body, isChat, generation, context, queue.capacity())
                .ofAdapter(adapter);
        try (AnswerFeed feed = new AnswerFeed(request.texts())) {
            submit(feed);
            Delivery delivery = new Delivery(request,
                    new AnswerWriter(isChat, name, generation.tokenizer()), feed);
            if (!request.isStreamed()) {
                send(exchange, OK, JSON, delivery.whole().toString());
                return;
            }
            exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
            exchange.getResponseHeaders().set("Cache-Control", "no-cache");
            exchange.sendResponseHeaders(OK, 0);
            delivery.stream(bytes -> watch.write(exchange.getResponseBody(), bytes));
        }
    }

    private void submit(AnswerFeed feed) {
        try {
            queue.submit(feed.submissions());
        } catch (QueueFullException full) {
            throw full.isClosed()
                    ? ApiException.ofServer(ApiException.UNAVAILABLE, "shutting_down", full.getMessage())
                    : new ApiException(ApiException.TOO_MANY, "rate_limit_error", null, "queue_full",
                            full.getMessage());
        }
    }

    /** A form of a browser cannot have this type. */
    private static byte[] read(HttpExchange exchange) throws IOException {
        String type = exchange.getRequestHeaders().getFirst("Content-Type");
        if (type == null || !type.split(";")[0].strip().equalsIgnoreCase(JSON)) {
            throw ApiException.refused(ApiException.UNSUPPORTED, null,
                    "the header Content-Type must be " + JSON + ", but is " + type);
        }
        byte[] body = exchange.getRequestBody().readNBytes(MOST_BODY_BYTES + 1);
        if (body.length > MOST_BODY_BYTES) {
            throw ApiException.refused(ApiException.TOO_LARGE, null,
                    "the body must have at most " + (MOST_BODY_BYTES >> 20) + " MiB");
        }
        return body;
    }

    private void send(HttpExchange exchange, int status, String type, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", type);
        exchange.getResponseHeaders().set("X-Content-Type-Options", "nosniff");
        exchange.sendResponseHeaders(status, bytes.length);
        watch.write(exchange.getResponseBody(), bytes);
    }

    /** Closes the address; answers in progress have a second to end. */
    @Override
    public void close() {
        server.stop(1);
        threads.shutdownNow();
        watch.close();
    }
}
