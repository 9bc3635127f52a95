package dev.troupe.run.cluster.liveness;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * The first message of either side of a liveness connection: a magic number, the number of the process, cluster and node.
 * Names are UTF-8 after their lengths; numbers are big-endian.
 *
 * @param peer the process that sends the hello
 */
record Hello(String cluster, Peer peer) {
    /** "troupe-" and the version of the message. */
    private static final long MAGIC = 0x74726f7570652d31L;
    /** The longest name, since a stranger may claim any length. */
    private static final int LONGEST_NAME = 1024;

    /** Writes the message at once, so that it is one packet. */
    void write(OutputStream out) throws IOException {
        byte[] clusterName = cluster.getBytes(StandardCharsets.UTF_8);
        byte[] nodeName = peer.node().getBytes(StandardCharsets.UTF_8);
        ByteBuffer message = ByteBuffer
                .allocate(2 * Long.BYTES + 2 * Short.BYTES + clusterName.length + nodeName.length);
        message.putLong(MAGIC).putLong(peer.uid());
        message.putShort((short) clusterName.length).put(clusterName);
        message.putShort((short) nodeName.length).put(nodeName);
        out.write(message.array());
        out.flush();
    }

    /**
     * Waits for a hello.
     *
     * @throws IOException if other bytes arrive, or none within the read timeout
     */
    static Hello read(InputStream stream) throws IOException {
        DataInputStream in = new DataInputStream(stream);
        if (in.readLong() != MAGIC) {
            throw new ProtocolException("its first bytes are no hello of a node of this version");
        }
        long uid = in.readLong();
        String cluster = name(in);
        return new Hello(cluster, new Peer(name(in), uid));
    }

    private static String name(DataInputStream in) throws IOException {
        int length = in.readUnsignedShort();
        if (length > LONGEST_NAME) {
            throw new ProtocolException("a name of " + length + " bytes, more than " + LONGEST_NAME);
        }
        return new String(in.readNBytes(length), StandardCharsets.UTF_8);
    }
}
