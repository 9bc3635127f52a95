package dev.troupe.run.http;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.troupe.plan.UsageException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;

/**
 * The HTTP server of a process, for {@link Routes}. It is read-only and accepts only GET. Thread
 * rule: any thread.
 */
public final class PageServer implements AutoCloseable {
    /** The rule for who may send requests. */
    @FunctionalInterface
    public interface Guard {
        /**
         * Returns the answer to a refused request; empty if the request is permitted.
         *
         * @param host the name under which the server was addressed, in lower case and without the port
         */
        Optional<Answer> refusal(String host, String path);
    }

    /** The headers of every answer. They permit a browser to load only the page's own files. */
    private static final Map<String, String> HEADERS = Map.of("Cache-Control", "no-store", "X-Content-Type-Options",
            "nosniff", "Referrer-Policy", "no-referrer", "X-Frame-Options", "DENY", "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:;"
                    + " base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    /**
     * The names of the loopback interface. A request with another name comes from a page of another site that resolves to
     * it.
     */
    public static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "::1", "[::1]");

    private static final int NOT_ALLOWED = 405;
    private static final int MOST_LISTENERS = 32;
    /** The interval at which a listener is served. */
    private static final long LOOK_EVERY_NANOS = 200_000_000;

    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Semaphore listeners = new Semaphore(MOST_LISTENERS);
    private final Guard guard;
    private final Routes routes;
    private volatile boolean isClosed;

    /**
     * Returns a server that has an address, and limits the requests of all servers of this process.
     *
     * @param tls present for HTTPS
     * @throws IOException if the address is taken
     */
    public static HttpServer bound(InetSocketAddress address, Optional<SSLContext> tls) throws IOException {
        limitRequests();
        if (tls.isEmpty()) {
            return HttpServer.create(address, 0);
        }
        HttpsServer server = HttpsServer.create(address, 0);
        server.setHttpsConfigurator(new HttpsConfigurator(tls.get()));
        return server;
    }

    private static void limitRequests() {
        // The JDK's server has no limits of its own: callers that send a request byte by byte would hold threads and file
        // descriptors, which the run needs for its checkpoints, for ever. A program's own limits remain.
        System.getProperties().putIfAbsent("jdk.httpserver.maxConnections", "256");
        System.getProperties().putIfAbsent("sun.net.httpserver.maxReqTime", "10"); // seconds until a request is whole
    }

    private PageServer(HttpServer server, Guard guard, Routes routes) {
        this.server = server;
        this.guard = guard;
        this.routes = routes;
    }

    /**
     * Opens a port of the loopback interface, only for this machine.
     *
     * @param port 0: a free one
     * @param key the option that chooses another port, for the sentence
     * @throws UsageException if the port is taken
     */
    public static PageServer open(int port, String key, Routes routes) {
        try {
            InetSocketAddress address = new InetSocketAddress(InetAddress.getByName("127.0.0.1"), port);
            HttpServer server = bound(address, Optional.empty());
            String own = "http://127.0.0.1:" + server.getAddress().getPort() + "/";
            return start(server, (host, _) -> LOOPBACK.contains(host)
                    ? Optional.empty()
                    : Optional.of(Answer.forbidden("the page is for this machine alone: open " + own)), routes);
        } catch (IOException taken) {
            throw new UsageException("cannot serve the page on 127.0.0.1:" + port + " (" + taken.getMessage()
                    + "); see that nothing else has the port, or choose another with " + key, taken);
        }
    }

    /**
     * Opens an address.
     *
     * @param tls present for HTTPS
     * @throws IOException if the address is taken
     */
    public static PageServer open(InetSocketAddress address, Optional<SSLContext> tls, Guard guard, Routes routes)
            throws IOException {
        return start(bound(address, tls), guard, routes);
    }

    private static PageServer start(HttpServer server, Guard guard, Routes routes) {
        PageServer page = new PageServer(server, guard, routes);
        server.setExecutor(page.threads);
        server.createContext("/", page::handle);
        server.start();
        return page;
    }

    public URI address() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/");
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            HEADERS.forEach(exchange.getResponseHeaders()::set);
            String path = exchange.getRequestURI().getPath();
            Optional<Answer> refusal = guard.refusal(host(exchange), path);
            if (refusal.isPresent()) {
                answer(exchange, refusal.get());
            } else if (!exchange.getRequestMethod().equals("GET")) {
                exchange.getResponseHeaders().set("Allow", "GET");
                exchange.sendResponseHeaders(NOT_ALLOWED, -1);
            } else {
                Optional<Supplier<String>> events = routes.events(path);
                if (events.isPresent()) {
                    send(exchange, events.get());
                } else {
                    answer(exchange, routes.answer(path, exchange.getRequestURI().getRawQuery()));
                }
            }
        }
    }

    /** Returns the name under which a request addresses its server, in lower case and without the port. */
    public static String host(HttpExchange exchange) {
        String host = exchange.getRequestHeaders().getFirst("Host");
        return host == null ? "" : host.replaceFirst(":\\d+$", "").toLowerCase(Locale.ROOT);
    }

    private static void answer(HttpExchange exchange, Answer answer) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", answer.type());
        exchange.sendResponseHeaders(answer.status(), answer.body().length == 0 ? -1 : answer.body().length);
        exchange.getResponseBody().write(answer.body());
    }

    /**
     * Sends the events of the run until the listener closes the connection. That is noticed soon, since the state is sent at
     * least every two seconds.
     */
    private void send(HttpExchange exchange, Supplier<String> events) throws IOException {
        if (!listeners.tryAcquire()) {
            answer(exchange, Answer
                    .notYet(MOST_LISTENERS + " listeners have the events of this run, and no more may"));
            return;
        }
        try {
            exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
            exchange.sendResponseHeaders(200, 0);
            OutputStream out = exchange.getResponseBody();
            while (!isClosed) {
                String text = events.get();
                if (!text.isEmpty()) {
                    out.write(text.getBytes(StandardCharsets.UTF_8));
                    out.flush();
                }
                LockSupport.parkNanos(LOOK_EVERY_NANOS);
            }
        } finally {
            listeners.release();
        }
    }

    @Override
    public void close() {
        isClosed = true;
        server.stop(0);
        threads.shutdownNow();
    }
}
