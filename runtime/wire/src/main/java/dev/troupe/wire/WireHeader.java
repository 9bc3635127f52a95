package dev.troupe.wire;

import dev.troupe.wire.sbe.FrameHeaderDecoder;
import dev.troupe.wire.sbe.FrameHeaderEncoder;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * The header of every frame; its schema is {@code frames.sbe.xml}. All nodes of a cluster use one version. One thread at a
 * time.
 */
public final class WireHeader {
    public static final int BYTES = FrameHeaderEncoder.ENCODED_LENGTH;
    /** "TRPE", little-endian. */
    public static final int MAGIC = 0x45505254;

    private final FrameHeaderEncoder encoder = new FrameHeaderEncoder();
    private final FrameHeaderDecoder decoder = new FrameHeaderDecoder();

    /** Writes a header without a checksum. */
    public void write(MutableDirectBuffer buffer, int at, int templateId, int blockLength) {
        encoder.wrap(buffer, at).magic(Integer.toUnsignedLong(MAGIC)).checksum(0).blockLength(blockLength)
                .templateId(templateId).schemaId(FrameHeaderEncoder.SCHEMA_ID)
                .version(FrameHeaderEncoder.SCHEMA_VERSION);
    }

    /** Writes the checksum into the last written header. */
    public void checksum(int checksum) {
        encoder.checksum(Integer.toUnsignedLong(checksum));
    }

    /** Reads a header of {@link #BYTES} bytes. */
    public void read(DirectBuffer buffer, int at) {
        decoder.wrap(buffer, at);
    }

    /** Returns whether the header read has Troupe's magic, in any version. */
    public boolean isFrame() {
        return (int) decoder.magic() == MAGIC;
    }

    public boolean isOfVersion() {
        return decoder.schemaId() == FrameHeaderDecoder.SCHEMA_ID
                && decoder.version() == FrameHeaderDecoder.SCHEMA_VERSION;
    }

    public boolean isOf(int templateId, int blockLength) {
        return decoder.templateId() == templateId && decoder.blockLength() == blockLength;
    }

    public int checksum() {
        return (int) decoder.checksum();
    }

    /** Reads a header; returns whether it is of this version, with a block of this template and length. */
    public boolean reads(DirectBuffer buffer, int at, int templateId, int blockLength) {
        read(buffer, at);
        return isFrame() && isOfVersion() && isOf(templateId, blockLength);
    }
}
