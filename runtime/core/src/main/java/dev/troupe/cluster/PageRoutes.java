package dev.troupe.cluster;

import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.page.Answer;
import dev.troupe.page.EventTail;
import dev.troupe.page.Routes;
import dev.troupe.page.RunPage;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.apache.pekko.NotUsed;
import org.apache.pekko.actor.AbstractExtensionId;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.actor.ExtendedActorSystem;
import org.apache.pekko.actor.Extension;
import org.apache.pekko.http.javadsl.model.ContentType;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.apache.pekko.http.javadsl.server.AllDirectives;
import org.apache.pekko.http.javadsl.server.Route;
import org.apache.pekko.management.javadsl.ManagementRouteProvider;
import org.apache.pekko.management.javadsl.ManagementRouteProviderSettings;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;

/**
 * The page of the run, and all that is on it, on a node's management port. Files are read on threads of its own, since the
 * dispatcher of the actors must not wait.
 */
public final class PageRoutes extends AllDirectives implements ManagementRouteProvider {
    private static final Id ID = new Id();
    private static final ContentType EVENTS = ContentTypes.parse("text/event-stream");
    private static final List<HttpHeader> HEADERS = RunPage.HEADERS.entrySet().stream()
            .<HttpHeader>map(header -> RawHeader.create(header.getKey(), header.getValue())).toList();

    /** The paths that the node serves. */
    private static final class Board implements Extension {
        private volatile Routes routes = Routes.none();
        private volatile RunPage run;
        private final AtomicInteger listeners = new AtomicInteger();
        private volatile boolean isForAll;
        private volatile boolean isForThisMachine;
    }

    private static final class Id extends AbstractExtensionId<Board> {
        @Override
        public Board createExtension(ExtendedActorSystem system) {
            return new Board();
        }
    }

    private final Board board;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    /** Pekko Management finds this class through its configuration. */
    public PageRoutes(ExtendedActorSystem system) {
        this.board = ID.get(system);
        system.registerOnTermination(threads::shutdownNow);
    }

    /** Serves a run on the management port of a node, once that is open. */
    static void serve(ActorSystem system, ClusterSpec cluster, NodeSpec self, RunPage run, Routes routes) {
        Board board = ID.get(system);
        board.run = run;
        board.isForAll = cluster.tls().isPresent();
        board.isForThisMachine = RunPage.LOOPBACK.contains(self.host());
        board.routes = routes;
    }

    @Override
    public Route routes(ManagementRouteProviderSettings settings) {
        return get(() -> extractUri(uri -> {
            String path = uri.path();
            if (!path.equals(RunPage.EVENTS) && !board.routes.has(path)) {
                return reject(); // it is another provider's
            }
            if (!board.isForAll
                    && !(board.isForThisMachine && RunPage.LOOPBACK.contains(uri.host().address()))) {
                return complete(response(Answer.forbidden("the page is served under a loopback address, or where there"
                        + " is cluster.tls; elsewhere troupe page serves it from the run's directory")));
            }
            return path.equals(RunPage.EVENTS)
                    ? complete(listen())
                    : completeWithFuture(asked(() -> response(
                            board.routes.answer(path, uri.rawQueryString().orElse(null)))));
        }));
    }

    private static HttpResponse response(Answer answer) {
        return HttpResponse.create().withStatus(answer.status()).addHeaders(HEADERS)
                .withEntity(HttpEntities.create(ContentTypes.parse(answer.type()), answer.body()));
    }

    private HttpResponse listen() {
        if (board.listeners.get() >= EventTail.MOST_LISTENERS) {
            return response(EventTail.tooMany());
        }
        return HttpResponse.create().addHeaders(HEADERS)
                .withEntity(HttpEntities.createCloseDelimited(EVENTS, events(board.run.tail())));
    }

    private Source<ByteString, NotUsed> events(EventTail tail) {
        return Source.tick(Duration.ZERO, Duration.ofMillis(EventTail.LOOK_EVERY_MILLIS), tail)
                .mapAsync(1, each -> asked(each::next)).filter(text -> !text.isEmpty()).map(ByteString::fromString)
                .watchTermination((_, ended) -> { // a stream that nobody reads is not counted
                    board.listeners.incrementAndGet();
                    ended.whenComplete((_, _) -> board.listeners.decrementAndGet());
                    return NotUsed.getInstance();
                });
    }

    private <T> CompletionStage<T> asked(Supplier<T> question) {
        return CompletableFuture.supplyAsync(question, threads);
    }
}
