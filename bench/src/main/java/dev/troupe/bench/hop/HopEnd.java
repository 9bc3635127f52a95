package dev.troupe.bench.hop;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.cpu.CpuEngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.protocol.Edge;
import dev.troupe.protocol.MessageKind;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.Transport;
import dev.troupe.transport.TransportFault;
import dev.troupe.transport.TransportListener;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * One end of a hop between two JVMs. Rank 0 sends bursts of messages, and rank 1 answers each burst with one small message.
 * The pass number of a message is the length of its burst.
 *
 * <p>Thread rule: one thread measures, while no burst is in flight.
 */
final class HopEnd implements TransportListener, Burst {
    /** The window: the number of tensors being sent, and of granted buffers. */
    static final int CREDITS = 4;
    static final long TIMEOUT_SECONDS = 120;
    private static final Edge THERE = new Edge(0, 1, 1, MessageKind.ACTIVATION);
    private static final Edge BACK = new Edge(1, 0, 0, MessageKind.GRADIENT);

    private final Transport transport;
    private final Engine engine;
    private final int rank;
    private final List<Tensor> buffers = new ArrayList<>();
    private final Tensor answer;
    private long landed;
    private long toSend;
    private volatile CountDownLatch burstDone = new CountDownLatch(0);

    /** Registers a rank of a transport, which this end closes, and grants its first buffers. */
    HopEnd(int rank, Transport transport, int bytes) {
        this.rank = rank;
        this.transport = transport;
        this.engine = new CpuEngineProvider()
                .open(new EngineSettings(DataType.FLOAT32, DataType.FLOAT32, 1));
        transport.register(rank, this);
        Shape shape = Shape.of(bytes / DataType.FLOAT32.elementBytes());
        for (int credit = 0; credit < CREDITS; credit++) {
            buffers.add(engine.allocate(DataType.FLOAT32, shape));
            if (rank == 1) {
                transport.grant(0, THERE, engine, buffers.getLast());
            }
        }
        this.answer = engine.allocate(DataType.FLOAT32, Shape.of(1));
        if (rank == 0) {
            transport.grant(0, BACK, engine, answer);
        }
    }

    @Override
    public double seconds(int messages) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        burstDone = done;
        int first = Math.min(messages, buffers.size());
        synchronized (this) {
            toSend = (long) messages - first;
        }
        long start = System.nanoTime();
        for (int index = 0; index < first; index++) {
            transport.send(new MessageId(0, messages, THERE, 0), engine, buffers.get(index));
        }
        if (!done.await(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException("no answer within " + TIMEOUT_SECONDS + " seconds");
        }
        return (System.nanoTime() - start) / 1e9;
    }

    @Override
    public void onLanded(MessageId id, Tensor tensor, int rows) {
        if (rank == 0) {
            transport.grant(0, BACK, engine, tensor);
            burstDone.countDown();
            return;
        }
        transport.grant(0, THERE, engine, tensor);
        landed++;
        if (landed == id.pass()) {
            landed = 0;
            transport.send(new MessageId(0, 0, BACK, 0), engine, answer);
        }
    }

    @Override
    public synchronized void onSent(MessageId id, Tensor tensor, long creditNanos) {
        if (rank == 0 && toSend > 0) {
            toSend--;
            transport.send(id, engine, tensor);
        }
    }

    @Override
    public void onReturned(Edge edge, Tensor tensor) {
        // Only at the end.
    }

    @Override
    public void onFault(TransportFault fault) {
        System.err.println(fault.sentence());
    }

    @Override
    public void close() {
        transport.close();
        buffers.forEach(Tensor::close);
        answer.close();
        engine.close();
    }
}
