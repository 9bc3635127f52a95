package dev.troupe.serve;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Readers that read nothing. */
@Timeout(60)
class WriteWatchTest {
    @Test
    void shouldCloseTheConnectionOfAReaderThatReadsNothing() throws Exception {
        try (ServerSocketChannel port = ServerSocketChannel.open()
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                SocketChannel reader = SocketChannel.open(port.getLocalAddress());
                SocketChannel writer = port.accept();
                WriteWatch watch = new WriteWatch(Duration.ofMillis(300))) {
            // more than the buffers of both ends can hold
            assertThrows(IOException.class, () -> watch.write(Channels.newOutputStream(writer), new byte[64 << 20]));
            assertFalse(writer.isOpen());
            Thread.interrupted();
            assertEquals(true, reader.isOpen());
        }
    }

    @Test
    void shouldLeaveQuickWritesAlone() throws Exception {
        try (WriteWatch watch = new WriteWatch(Duration.ofSeconds(30))) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            watch.write(out, new byte[]{1, 2});
            assertEquals(2, out.size());
        }
    }
}
