package dev.troupe.page;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.troupe.plan.UsageException;
import dev.troupe.prepare.PreparedRun;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;

/**
 * Serves a run on a port of the loopback: what its {@link Routes} answer, and its events. It changes nothing and is asked by
 * GET alone. Any thread.
 */
public final class PageServer implements AutoCloseable {
    private static final int NOT_ALLOWED = 405;

    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Semaphore listeners = new Semaphore(EventTail.MOST_LISTENERS);
    private final Routes routes;
    private final RunPage run;
    private volatile boolean isClosed;

    private PageServer(HttpServer server, RunPage run, Routes routes) {
        this.server = server;
        this.run = run;
        this.routes = routes;
    }

    /**
     * Opens {@code observe.port} for a run of this process; empty where none is configured.
     *
     * @param more returns the routes of the run with what this process answers beside them
     * @throws UsageException where the port is taken
     */
    public static Optional<PageServer> of(PreparedRun run, UnaryOperator<Routes> more) {
        int port = run.spec().observe().port();
        RunPage page = new RunPage(run.request().output());
        return port == 0 ? Optional.empty() : Optional.of(open(port, "observe.port", page, more.apply(page.routes())));
    }

    /**
     * Opens the port.
     *
     * @param port of the loopback; 0: one that is free
     * @param key what to change where the port is taken, for the sentence
     * @param routes all that answers beside the events
     * @throws UsageException where the port is taken
     */
    public static PageServer open(int port, String key, RunPage run, Routes routes) {
        try {
            HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), port), 0);
            PageServer page = new PageServer(server, run, routes);
            server.setExecutor(page.threads);
            server.createContext("/", page::handle);
            server.start();
            return page;
        } catch (IOException taken) {
            throw new UsageException("cannot serve the page on 127.0.0.1:" + port + " (" + taken.getMessage()
                    + "); see that nothing else has the port, or choose another with " + key, taken);
        }
    }

    /** Returns the address of the page. */
    public URI address() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/");
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            RunPage.HEADERS.forEach(exchange.getResponseHeaders()::set);
            String host = exchange.getRequestHeaders().getFirst("Host");
            if (host == null || !RunPage.LOOPBACK.contains(host.replaceFirst(":\\d+$", ""))) {
                answer(exchange, Answer.forbidden("the page is for this machine alone: open " + address()));
            } else if (!exchange.getRequestMethod().equals("GET")) {
                exchange.getResponseHeaders().set("Allow", "GET");
                exchange.sendResponseHeaders(NOT_ALLOWED, -1);
            } else if (exchange.getRequestURI().getPath().equals(RunPage.EVENTS)) {
                tell(exchange);
            } else {
                answer(exchange, routes.answer(exchange.getRequestURI().getPath(),
                        exchange.getRequestURI().getRawQuery()));
            }
        }
    }

    private static void answer(HttpExchange exchange, Answer answer) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", answer.type());
        exchange.sendResponseHeaders(answer.status(), answer.body().length == 0 ? -1 : answer.body().length);
        exchange.getResponseBody().write(answer.body());
    }

    private void tell(HttpExchange exchange) throws IOException {
        if (!listeners.tryAcquire()) {
            answer(exchange, EventTail.tooMany());
            return;
        }
        try {
            exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
            exchange.sendResponseHeaders(200, 0);
            EventTail tail = run.tail();
            OutputStream out = exchange.getResponseBody();
            while (!isClosed) { // or until nobody listens: the state is told every two seconds at least
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
