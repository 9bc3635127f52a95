package dev.troupe.look.page;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.prepare.PreparedRun;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
import javax.net.ssl.SSLContext;

/**
 * The HTTP server of a process, for {@link Routes} and the events of a run. It is read-only and accepts only GET. Thread
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

    private static final int NOT_ALLOWED = 405;

    static {
        // The JDK's server has no limits of its own: callers that send a request byte by byte would hold threads and file
        // descriptors, which the run needs for its checkpoints, for ever. A program's own limits remain.
        System.getProperties().putIfAbsent("jdk.httpserver.maxConnections", "256");
        System.getProperties().putIfAbsent("sun.net.httpserver.maxReqTime", "10"); // seconds until a request is whole
    }

    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Semaphore listeners = new Semaphore(EventTail.MOST_LISTENERS);
    private final Guard guard;
    private final Routes routes;
    private final RunPage run;
    private volatile boolean isClosed;

    private PageServer(HttpServer server, Guard guard, RunPage run, Routes routes) {
        this.server = server;
        this.guard = guard;
        this.run = run;
        this.routes = routes;
    }

    /**
     * Opens {@code observe.port} for a run of this process; empty if none is configured.
     *
     * @param more adds this process's routes to the run's routes
     * @throws UsageException if the port is taken
     */
    public static Optional<PageServer> of(PreparedRun run, UnaryOperator<Routes> more) {
        int port = run.spec().observe().port();
        RunPage page = new RunPage(run.request().output());
        return port == 0 ? Optional.empty() : Optional.of(open(port, "observe.port", page, more.apply(page.routes())));
    }

    /**
     * Opens a port of the loopback interface, only for this machine.
     *
     * @param port 0: a free one
     * @param key the option that chooses another port, for the sentence
     * @param routes all paths except the events
     * @throws UsageException if the port is taken
     */
    public static PageServer open(int port, String key, RunPage run, Routes routes) {
        try {
            InetSocketAddress address = new InetSocketAddress(InetAddress.getByName("127.0.0.1"), port);
            HttpServer server = HttpServer.create(address, 0);
            String own = "http://127.0.0.1:" + server.getAddress().getPort() + "/";
            return start(server, (host, _) -> RunPage.LOOPBACK.contains(host)
                    ? Optional.empty()
                    : Optional.of(Answer.forbidden("the page is for this machine alone: open " + own)), run, routes);
        } catch (IOException taken) {
            throw new UsageException("cannot serve the page on 127.0.0.1:" + port + " (" + taken.getMessage()
                    + "); see that nothing else has the port, or choose another with " + key, taken);
        }
    }

    /**
     * Opens an address.
     *
     * @param tls present for HTTPS
     * @param routes all paths except the events
     * @throws IOException if the address is taken
     */
    public static PageServer open(InetSocketAddress address, Optional<SSLContext> tls, Guard guard, RunPage run,
            Routes routes) throws IOException {
        if (tls.isEmpty()) {
            return start(HttpServer.create(address, 0), guard, run, routes);
        }
        HttpsServer server = HttpsServer.create(address, 0);
        server.setHttpsConfigurator(new HttpsConfigurator(tls.get()));
        return start(server, guard, run, routes);
    }

    private static PageServer start(HttpServer server, Guard guard, RunPage run, Routes routes) {
        PageServer page = new PageServer(server, guard, run, routes);
        server.setExecutor(page.threads);
        server.createContext("/", page::handle);
        server.start();
        return page;
    }

    /** Returns the address of the page on the loopback interface. */
    public URI address() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/");
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            RunPage.HEADERS.forEach(exchange.getResponseHeaders()::set);
            String path = exchange.getRequestURI().getPath();
            Optional<Answer> refusal = guard.refusal(host(exchange), path);
            if (refusal.isPresent()) {
                answer(exchange, refusal.get());
            } else if (!exchange.getRequestMethod().equals("GET")) {
                exchange.getResponseHeaders().set("Allow", "GET");
                exchange.sendResponseHeaders(NOT_ALLOWED, -1);
            } else if (path.equals(RunPage.EVENTS)) {
                send(exchange);
            } else {
                answer(exchange, routes.answer(path, exchange.getRequestURI().getRawQuery()));
            }
        }
    }

    private static String host(HttpExchange exchange) {
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
    private void send(HttpExchange exchange) throws IOException {
        if (!listeners.tryAcquire()) {
            answer(exchange, EventTail.tooMany());
            return;
        }
        try {
            exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
            exchange.sendResponseHeaders(200, 0);
            EventTail tail = run.tail();
            OutputStream out = exchange.getResponseBody();
            while (!isClosed) {
                String text = tail.next();
                if (!text.isEmpty()) {
                    out.write(text.getBytes(StandardCharsets.UTF_8));
                    out.flush();
                }
                LockSupport.parkNanos(EventTail.LOOK_EVERY_MILLIS * 1_000_000);
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
