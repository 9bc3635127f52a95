package dev.troupe.engine.cpu;

import dev.troupe.engine.DataType;
import java.util.ArrayList;
import java.util.List;

/**
 * Large products whose right side is packed once for all of their rows, and a parameter once for all products until it
 * changes. {@code dnnl_sgemm} packs in every call, and again for each panel that a product is cut into.
 *
 * <p>Thread rule: that of kernels.
 */
final class PackedProducts implements AutoCloseable {
    /** Rows of a panel, the unit of work of a crew. Fewer would make less of what is loaded of the right side. */
    private static final int ROWS = 256;

    private final Crew crew;
    // Looked through from the beginning: training asks for the same few dozens again and again.
    private final List<Packing> packings = new ArrayList<>();
    private final List<PackedPanels> panels = new ArrayList<>();
    private final GrowingMemory scratch;
    private final GrowingMemory packed = new GrowingMemory(1);

    PackedProducts(Crew crew) {
        this.crew = crew;
        this.scratch = new GrowingMemory(crew.threads());
    }

    /** As {@link MatrixProduct#multiply}; rectangles are whole rows. */
    void multiply(CpuTensor a, boolean transposeA, CpuTensor b, boolean transposeB, CpuTensor c, int k,
            boolean accumulate, long bias, MatrixProduct.Finish finish) {
        int m = c.size(0);
        int n = c.size(1);
        Packing packing = packing(a.dataType(), transposeB, k, n);
        int aStride = transposeA ? m : k;
        PackedPanels whole = panels(packing, k, n, Math.min(ROWS, m), transposeA, aStride, c.dataType(), bias != 0,
                accumulate);
        PackedPanels last = m % ROWS == 0
                ? whole
                : panels(packing, k, n, m % ROWS, transposeA, aStride, c.dataType(), bias != 0, accumulate);
        long right = packed(b, packing);
        crew.share(m, ROWS, (from, rows, member) -> {
            (rows == ROWS ? whole : last).multiply(member, a.addressOf(from * (transposeA ? 1 : k)), right,
                    bias, c.addressOf(from * n), scratch.of(member));
            if (finish != null) {
                finish.finish((int) from, rows, 0, n, member);
            }
        });
    }

    /** A parameter is a range, and keeps what was packed of it; anything else changes before it is seen again. */
    private long packed(CpuTensor b, Packing packing) {
        if (b.isRange()) {
            return b.packed(packing);
        }
        packed.require(packing.bytes());
        packing.pack(b.address(), packed.of(0));
        return packed.of(0);
    }

    private Packing packing(DataType type, boolean transposeB, int k, int n) {
        for (int i = 0; i < packings.size(); i++) {
            if (packings.get(i).serves(type, transposeB, k, n)) {
                return packings.get(i);
            }
        }
        packings.add(new Packing(crew, type, transposeB, k, n, ROWS));
        return packings.getLast();
    }

    private PackedPanels panels(Packing packing, int k, int n, int rows, boolean transposeA, int aStride,
            DataType product, boolean biased, boolean accumulate) {
        for (int i = 0; i < panels.size(); i++) {
            if (panels.get(i).serves(packing, rows, transposeA, aStride, product, biased, accumulate)) {
                return panels.get(i);
            }
        }
        PackedPanels made = new PackedPanels(packing, k, n, rows, transposeA, aStride, product, biased, accumulate,
                crew.threads());
        scratch.require(made.scratchBytes());
        panels.add(made);
        return made;
    }

    @Override
    public void close() {
        panels.forEach(PackedPanels::close);
        packings.forEach(Packing::close);
        scratch.close();
        packed.close();
    }
}
