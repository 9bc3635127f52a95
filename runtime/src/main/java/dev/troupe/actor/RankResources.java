package dev.troupe.actor;

import dev.troupe.collective.CollectiveGroup;
import dev.troupe.collective.EngineGroup;
import dev.troupe.config.group.GroupKind;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.machine.CheckpointPart;
import dev.troupe.machine.Pass;
import dev.troupe.machine.RankEvent;
import dev.troupe.machine.RankMachine;
import dev.troupe.machine.Traffic;
import dev.troupe.model.Stage;
import dev.troupe.parallel.DataShare;
import dev.troupe.parallel.TensorShare;
import dev.troupe.run.TrainingPlan;
import dev.troupe.schedule.Action;
import dev.troupe.transport.Edge;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.MessageKind;
import dev.troupe.transport.TransportFault;
import dev.troupe.transport.TransportListener;
import dev.troupe.weights.TensorPart;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.pekko.actor.typed.ActorRef;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What one rank has beside its actors: engine, thread, stages, tensors between stages. All stages of a rank share its
 * engine and its thread, since a rank computes one thing at a time.
 *
 * <p>Thread rule: {@link #open} on the rank's thread; {@link #worker} and {@link #send} after all are open. Closed by the
 * node, after the transport (which reads and writes tensors) and after the thread.
 */
final class RankResources {
    private static final Logger LOG = LoggerFactory.getLogger(RankResources.class);

    private final int rank;
    private final NodeContext node;
    private final TrainingPlan plan;
    private final Engine engine;
    private final BoundaryTensors tensors = new BoundaryTensors();
    private final Optional<CollectiveGroup> tensorGroup;
    private final Optional<CollectiveGroup> dataGroup;
    private final MicrobatchReader data;
    private final AtomicLong bytesSent = new AtomicLong();
    private final RankThread thread;
    /** Exchanges with other ranks while {@link #thread} computes. */
    private final RankThread exchanging;
    private Traffic toldTraffic = Traffic.NONE;
    // Filled on the rank's thread, read by the transport's.
    private final Map<Integer, StageWorker> workers = new ConcurrentHashMap<>();

    RankResources(int rank, NodeContext node) {
        this.rank = rank;
        this.node = node;
        this.plan = node.plan();
        this.engine = node.engines().get();
        this.tensorGroup = node.groups().join(GroupKind.TENSOR, rank, NodeContext.EPOCH);
        this.dataGroup = node.groups().join(GroupKind.DATA, rank, NodeContext.EPOCH);
        this.data = new MicrobatchReader(node, rank, tensorGroup);
        this.thread = new RankThread("rank-" + rank);
        this.exchanging = new RankThread("rank-" + rank + "-exchanges");
    }

    int rank() {
        return rank;
    }

    List<Integer> stages() {
        return plan.stagesOf(rank);
    }

    MicrobatchReader data() {
        return data;
    }

    RankThread thread() {
        return thread;
    }

    RankMachine machine() {
        return new RankMachine(rank, plan.row(Pass.Kind.TRAINING, rank), plan.row(Pass.Kind.HELD_OUT, rank), stages(),
                stages().stream().filter(plan::exchangesTiedGradient).toList());
    }

    /** Builds a stage, with the weights the run starts from, and grants its first credits. */
    void open(int index) {
        Stage stage = Stage.create(engine, plan.partition(), index, plan.stageSettings(), share(), dataShare(),
                node.weights());
        StageWorker worker = new StageWorker(stage, engine, this, node);
        workers.put(index, worker);
        if (node.resumes()) {
            stage.load(node.weights());
        }
        worker.grantFirstCredits();
    }

    private TensorShare share() {
        return tensorGroup.map(group -> new TensorShare(new EngineGroup(group, engine), plan.sharesSequence()))
                .orElse(TensorShare.ALL);
    }

    private DataShare dataShare() {
        return dataGroup.map(group -> new DataShare(new EngineGroup(group, engine), plan.zero(), this::aside))
                .orElse(DataShare.ALL);
    }

    private void aside(Runnable task) {
        exchanging.run(() -> {
            task.run();
            return null;
        });
    }

    StageWorker worker(int stage) {
        return workers.get(stage);
    }

    BoundaryTensors tensors() {
        return tensors;
    }

    /** Turns what the transport says into messages for the schedule actor. */
    void listen(ActorRef<ScheduleActor.Command> schedule) {
        node.transport().register(rank, new TransportListener() {
            @Override
            public void onLanded(MessageId id, Tensor tensor) {
                int stage = id.edge().stage();
                switch (id.edge().kind()) {
                    case ACTIVATION, GRADIENT -> {
                        Action receive = Edges.receive(id);
                        node.trace().ifPresent(trace -> trace.addLanded(id.step(), receive, System.nanoTime()));
                        tensors.put(receive, tensor);
                        schedule.tell(new ScheduleActor.Moved(new RankEvent.Landed(receive)));
                    }
                    case TIED_GRADIENT -> {
                        worker(stage).keepTiedGradient(tensor);
                        schedule.tell(new ScheduleActor.Moved(new RankEvent.TiedGradientLanded(stage)));
                    }
                }
            }

            @Override
            public void onSent(MessageId id, Tensor tensor) {
                int stage = plan.senderOf(id.edge());
                if (id.edge().kind() == MessageKind.TIED_GRADIENT) {
                    schedule.tell(new ScheduleActor.Moved(new RankEvent.TiedGradientSent(stage)));
                } else {
                    worker(stage).release(tensor);
                }
            }

            @Override
            public void onReturned(Edge edge, Tensor tensor) {
                // Only a transport that closes gives tensors back; the stages that own them close after it.
            }

            @Override
            public void onFault(TransportFault fault) {
                schedule.tell(new ScheduleActor.TransportFailed(fault));
            }
        });
    }

    /** Hands the tensor of a send to the transport. */
    void send(long step, Action send) {
        send(new MessageId(NodeContext.EPOCH, step, plan.edgeOf(rank, send), send.microbatch()), tensors.take(send));
    }

    /** Hands a tensor to the transport. */
    void send(MessageId id, Tensor tensor) {
        bytesSent.addAndGet(tensor.byteCount());
        node.transport().send(id, engine, tensor);
    }

    /** What this rank has sent since this was last asked. One caller. */
    Traffic newTraffic() {
        Traffic all = new Traffic(bytesSent.get(), tensorGroup.map(CollectiveGroup::bytesSent).orElse(0L),
                dataGroup.map(CollectiveGroup::bytesSent).orElse(0L));
        Traffic fresh = all.since(toldTraffic);
        toldTraffic = all;
        return fresh;
    }

    /** Writes weights and optimizer state of all stages to this rank's file. A tied table is written by its embedding. */
    CheckpointPart writeCheckpoint(long stepsDone) {
        List<TensorPart> all = new ArrayList<>();
        for (int stage : stages()) {
            all.addAll(worker(stage).state());
        }
        return node.checkpoints().writePart(stepsDone, rank, all);
    }

    /** Ends the collectives of this rank, and with them those of the ranks that are in them. Any thread. */
    void leaveGroups() {
        tensorGroup.ifPresent(CollectiveGroup::close);
        dataGroup.ifPresent(CollectiveGroup::close);
    }

    /** The stages take no more work, and wait for no other rank. */
    void shutDown() {
        leaveGroups();
        thread.shutDown();
    }

    /** After {@link #shutDown}: frees all memory, unless a stage still computes at the deadline. */
    void close(long deadlineNanos) {
        boolean hasEnded = thread.awaitEnd(deadlineNanos);
        exchanging.shutDown();
        if (hasEnded && exchanging.awaitEnd(deadlineNanos)) {
            workers.values().forEach(StageWorker::close);
            engine.close();
            data.close();
        } else {
            // Memory a thread still computes on must not be freed under it; it goes with the process.
            LOG.warn("rank {} still computes long after it was told to stop", rank);
        }
    }
}
