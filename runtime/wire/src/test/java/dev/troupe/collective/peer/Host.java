package dev.troupe.collective.peer;

import io.aeron.driver.DataPacketDispatcher;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.aeron.driver.media.ReceiveChannelEndpoint;
import io.aeron.driver.media.UdpChannel;
import io.aeron.protocol.DataHeaderFlyweight;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.AtomicCounter;

/** A machine for collectives: a media driver with its directory, and a network that may be bad. */
public final class Host implements AutoCloseable {
    private static final double BAD = 0.02;

    private final MediaDriver driver;
    private final AtomicLong spoiled = new AtomicLong();

    private Host(boolean isNetworkBad) {
        MediaDriver.Context context = new MediaDriver.Context().aeronDirectoryName(freshDirectory())
                .dirDeleteOnShutdown(true).warnIfDirectoryExists(false).dirDeleteOnStart(true)
                .threadingMode(ThreadingMode.SHARED).sharedIdleStrategy(idle()).asyncExecutorIdleStrategy(idle())
                .ipcMtuLength(65504);
        if (isNetworkBad) {
            context.receiveChannelEndpointSupplier(BadEndpoint::new);
        }
        driver = MediaDriver.launch(context);
    }

    /** A machine with a network that delivers each packet as it came. */
    public static Host good() {
        return new Host(false);
    }

    /** A machine that loses, doubles and delays one packet in fifty each, of what it receives. */
    public static Host bad() {
        return new Host(true);
    }

    private static IdleStrategy idle() {
        return new BackoffIdleStrategy(1, 1, TimeUnit.MICROSECONDS.toNanos(10), TimeUnit.MICROSECONDS.toNanos(500));
    }

    private static String freshDirectory() {
        try {
            return Files.createTempDirectory("host").toString();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** Returns the directory of its media driver. */
    public Path directory() {
        return Path.of(driver.aeronDirectoryName());
    }

    /** Packets that were lost, doubled or delayed. */
    public long spoiledPackets() {
        return spoiled.get();
    }

    /** Returns a free UDP port. */
    public static int freePort() {
        try (DatagramSocket socket = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (SocketException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** Returns a free TCP port. */
    public static int freeTcpPort() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    @Override
    public void close() {
        driver.close();
    }

    private final class BadEndpoint extends ReceiveChannelEndpoint {
        private final Random random = new Random(7);
        private UnsafeBuffer delayed;

        BadEndpoint(UdpChannel channel, DataPacketDispatcher dispatcher, AtomicCounter status,
                MediaDriver.Context context) {
            super(channel, dispatcher, status, context);
        }

        @Override
        public int onDataPacket(DataHeaderFlyweight header, UnsafeBuffer buffer, int length, InetSocketAddress from,
                int transport) {
            double fate = random.nextDouble();
            if (fate < 3 * BAD) {
                spoiled.incrementAndGet();
            }
            if (fate < BAD) {
                return 0;
            }
            if (fate < 2 * BAD && delayed == null) {
                delayed = new UnsafeBuffer(new byte[length]);
                delayed.putBytes(0, buffer, 0, length);
                return 0;
            }
            int bytes = super.onDataPacket(header, buffer, length, from, transport);
            if (fate < 3 * BAD) {
                bytes += super.onDataPacket(header, buffer, length, from, transport);
            }
            if (delayed != null) {
                UnsafeBuffer late = delayed;
                delayed = null;
                super.onDataPacket(new DataHeaderFlyweight(late), late, late.capacity(), from, transport);
            }
            return bytes;
        }
    }
}
