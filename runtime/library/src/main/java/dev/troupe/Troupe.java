package dev.troupe;

import static java.util.Objects.requireNonNull;

import dev.troupe.config.RunSpec;
import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.engine.provider.InstalledEngines;
import dev.troupe.look.page.RunPage;
import dev.troupe.plan.Version;
import dev.troupe.plan.directory.ClaimedDirectory;
import dev.troupe.plan.directory.RunDirectory;
import dev.troupe.plan.prepare.BuiltInCorpus;
import dev.troupe.plan.prepare.NodeRequests;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.plan.prepare.RunRequest;
import dev.troupe.protocol.WarmUpReport;
import dev.troupe.run.TrainingRun;
import dev.troupe.run.TransportOf;
import dev.troupe.run.cluster.ClusterRun;
import dev.troupe.run.cluster.machine.HostNames;
import dev.troupe.run.news.RunListener;
import dev.troupe.transport.Transport;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.apache.pekko.actor.typed.ActorSystem;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The training of a model from a program, with the checks, the sentences and the files of {@code ./troupe train}.
 *
 * <p>A run logs through SLF4J, prints nothing, handles no signal and ends no process. Any number of runs may be in progress
 * in a JVM, at the same time too, each in a directory of its own. Thread rule: any thread.
 */
public final class Troupe {
    private static final Logger LOG = LoggerFactory.getLogger(Troupe.class);

    private Troupe() {
    }

    /** As {@link #train(TrainingSpec, TrainingData, TrainingListener)}, on the data of the configuration. */
    public static TrainingResult train(TrainingSpec spec, TrainingListener listener) throws InterruptedException {
        return train(spec, TrainingData.configured(), listener);
    }

    /**
     * Trains until the last step, and writes checkpoints and the model.
     *
     * @throws RequestException if the request is wrong: nothing was started and nothing written
     * @throws RunFailedException if the run failed
     * @throws InterruptedException if this thread was interrupted; the run has ended without a checkpoint
     */
    public static TrainingResult train(TrainingSpec spec, TrainingData data, TrainingListener listener)
            throws InterruptedException {
        TrainingHandle handle = start(spec, data, listener);
        try {
            return handle.await();
        } catch (InterruptedException interrupted) {
            handle.stopNow();
            handle.result().handle((_, _) -> Optional.empty()).join();
            throw interrupted;
        }
    }

    /**
     * Starts a run in this JVM and returns once its first step is in progress or about to be.
     *
     * @throws RequestException if the request is wrong: nothing was started and nothing written
     * @throws InterruptedException if this thread was interrupted, with its interrupt status set; nothing was started
     */
    public static TrainingHandle start(TrainingSpec spec, TrainingData data, TrainingListener listener)
            throws InterruptedException {
        return start(spec, data, listener, Optional.empty());
    }

    /**
     * As {@link #start(TrainingSpec, TrainingData, TrainingListener)}, with the actors of the run in an actor system
     * of the program, which lives on after the run. If the system ends before the run does, it stops the run, with
     * a checkpoint and a model, and waits for that as long as its phases {@code before-service-unbind} and
     * {@code service-requests-done} allow.
     */
    public static TrainingHandle start(TrainingSpec spec, TrainingData data, TrainingListener listener,
            ActorSystem<?> system) throws InterruptedException {
        return start(spec, data, listener, Optional.of(requireNonNull(system, "system")));
    }

    private static TrainingHandle start(TrainingSpec spec, TrainingData data, TrainingListener listener,
            Optional<ActorSystem<?>> host) throws InterruptedException {
        requireNonNull(spec, "spec");
        requireNonNull(data, "data");
        requireNonNull(listener, "listener");
        JvmFlags.require();
        return started(handle -> {
            host.ifPresent(HostShutdown::requireAlive);
            try (Held held = new Held()) {
                Path directory = spec.directory().orElseGet(
                        () -> held.add(ClaimedDirectory.firstFree(RunDirectory.usual(spec.checked()))).path());
                RunSpec checked = spec.read(data.setting(directory).stream().toList());
                RunRequest request = new RunRequest(checked, BuiltInCorpus.utf8(), directory, spec.resume(),
                        OptionalLong.empty(), false, Optional.empty(), data.text());
                PreparedRun run = held.add(PreparedRun.of(request));
                note(run);
                RunPage.serve(run, UnaryOperator.identity())
                        .ifPresent(page -> LOG.info("the page of the run: {}", held.add(page).address()));
                WarmUpReport warmUp = TrainingRun.warmUp(run);
                Transport transport = held.add(TransportOf.run(run));
                RunLead lead = held.add(new RunLead(run, listener, spec.observers(), handle));
                RunListener recorder = lead.lead();
                TrainingRun training = TrainingRun.start(run, lead.journal().orElseThrow().directory(), transport,
                        warmUp, recorder, host);
                TrainingHandle started = new TrainingHandle(
                        new ActiveRun(run, training, lead, held.handOver()));
                host.ifPresent(system -> HostShutdown.stopFirst(system, started));
                return started;
            }
        });
    }

    /**
     * Joins the cluster of a file as one of its nodes, or forms it, and takes part in its run until that ends.
     *
     * @param clusterFile a HOCON file with {@code cluster.nodes}, the same on all nodes
     * @param node the name of this node
     * @param listener called if this process has the coordinator: at first on the first node of the file
     * @throws RequestException if the request is wrong; a refusal by other nodes comes from {@link TrainingHandle#await}
     * @throws InterruptedException if this thread was interrupted, with its interrupt status set; nothing was started
     */
    public static TrainingHandle join(Path clusterFile, String node, TrainingListener listener)
            throws InterruptedException {
        return join(TrainingSpec.fromFile(requireNonNull(clusterFile, "clusterFile")), node, listener);
    }

    /** As {@link #join(Path, String, TrainingListener)}, with settings over the file, the same on all nodes. */
    public static TrainingHandle join(TrainingSpec spec, String node, TrainingListener listener)
            throws InterruptedException {
        requireNonNull(spec, "spec");
        requireNonNull(node, "node");
        requireNonNull(listener, "listener");
        JvmFlags.require();
        return started(handle -> {
            NodeRequests.requireNodes(spec.checked(), spec.file().orElse(Path.of("this configuration")));
            ClusterSpec cluster = spec.checked().cluster().orElseThrow();
            NodeSpec self = cluster.node(node);
            HostNames.await(cluster, LOG::info);
            try (Held held = new Held()) {
                PreparedRun run = held.add(PreparedRun.of(
                        NodeRequests.of(spec.checked(), self, spec.commonDirectory(), spec.resume())));
                note(run);
                RunLead lead = held.add(new RunLead(run, listener, spec.observers(), handle));
                TrainingRun training = ClusterRun.join(run, self, Version.text(), lead);
                return new TrainingHandle(new ActiveRun(run, training, lead, held.handOver()));
            }
        });
    }

    /** The start of a run; the listener's first call waits for the handle. */
    @FunctionalInterface
    private interface Start {
        TrainingHandle with(CompletableFuture<TrainingHandle> handle) throws InterruptedException;
    }

    /**
     * A start that is interrupted ends in exceptions of many kinds, all less clear than the interrupt. Libraries look for
     * their services by the class loader of the thread, which the threads of the run inherit: in a fat jar a thread of the
     * common pool has one that sees none.
     */
    private static TrainingHandle started(Start start) throws InterruptedException {
        CompletableFuture<TrainingHandle> handle = new CompletableFuture<>();
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        Thread.currentThread().setContextClassLoader(InstalledEngines.loader());
        try {
            handle.complete(Refusals.translate(() -> start.with(handle)));
            return handle.join();
        } catch (RuntimeException | InterruptedException failure) {
            if (failure instanceof RuntimeException other && !Thread.currentThread().isInterrupted()) {
                throw other;
            }
            Thread.currentThread().interrupt();
            InterruptedException interrupted = new InterruptedException(
                    "the run has not started: the thread that was starting it was interrupted");
            interrupted.initCause(failure);
            throw interrupted;
        } finally {
            handle.completeExceptionally(new IllegalStateException("the run has not started"));
            Thread.currentThread().setContextClassLoader(before);
        }
    }

    private static void note(PreparedRun run) {
        LOG.info("{}: {}, {} parameters, in {}", run.spec().name(), run.model().summary(),
                run.model().parameterCount(), run.request().output());
        List.of(run.engine().passedOver(), run.engine().provider().caution(run.engine().settings()))
                .forEach(note -> note.ifPresent(LOG::warn));
        run.data().notes().forEach(LOG::info);
        run.start().passedOver().forEach(what -> LOG.warn("passed over a checkpoint: {}", what));
    }

    /** The resources that are closed, the last first, if a start fails, or else when the run is over. */
    private static final class Held implements AutoCloseable {
        private final Deque<AutoCloseable> open = new ArrayDeque<>();

        <T extends AutoCloseable> T add(T resource) {
            open.push(resource);
            return resource;
        }

        /** Returns the resources, which this object does not close any more. */
        AutoCloseable handOver() {
            Held taken = new Held();
            taken.open.addAll(open);
            open.clear();
            return taken;
        }

        @Override
        public void close() {
            IllegalStateException unclosed = null;
            for (AutoCloseable resource : open) {
                try {
                    resource.close();
                } catch (Exception failure) {
                    if (unclosed == null) {
                        unclosed = new IllegalStateException("a resource of a run could not be closed", failure);
                    } else {
                        unclosed.addSuppressed(failure);
                    }
                }
            }
            if (unclosed != null) {
                throw unclosed;
            }
        }
    }
}
